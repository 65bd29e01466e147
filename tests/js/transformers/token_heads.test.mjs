// Heads that read each token of an encoder, and T5's encoder: what they compute is what their formulas give on plain numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AutoModel,
  AutoModelForQuestionAnswering,
  AutoModelForTokenClassification,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kEncodersWith } from "../support/plain_encoders.mjs";
import { kT5 } from "../support/plain_seq2seq.mjs";
import { distance, drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const kTolerance = 2e-5;
const ids64 = (lists) => eg.tensor(lists, { dtype: "int64" });
const text = idsOf(6, 20).map((id) => id + 2);
const lossOf = (row, label) =>
  Math.log(row.reduce((sum, one) => sum + Math.exp(one), 0)) - row[label];

for (const [name, withHead] of Object.entries(kEncodersWith)) {
  describe(name, () => {
    test("gives each token a class", async () => {
      const { config, shapes, logits } = withHead("classifier", 3);
      const { tensors, arrays } = drawWeights(shapes);
      const model = await AutoModelForTokenClassification.fromPretrained(filesOf(config, tensors));
      const wanted = logits(arrays, text);
      const labels = ids64([[-100, 2, 0, -100, 1, -100]]);
      const { logits: own, loss, lossCount } = model.call(ids64([text]), { labels });
      assert.ok(distance(own, wanted) < kTolerance);
      const mean = (lossOf(wanted[1], 2) + lossOf(wanted[2], 0) + lossOf(wanted[4], 1)) / 3;
      assert.ok(Math.abs(loss.item() - mean) < 1e-4);
      assert.equal(lossCount.item(), 3);
      const keys = Object.keys(
        eg.io.loadSafetensors((await model.savePretrained())["model.safetensors"]),
      );
      assert.deepEqual(keys.sort(), Object.keys(shapes).sort());
    });

    const answers = name === "modernbert" ? () => {} : test;
    answers("finds where answers begin and end", async () => {
      const { config, shapes, logits } = withHead("qa_outputs", 2);
      const { tensors, arrays } = drawWeights(shapes);
      const model = await AutoModelForQuestionAnswering.fromPretrained(filesOf(config, tensors));
      const wanted = logits(arrays, text);
      const [start, end] = [0, 1].map((i) => wanted.map((row) => row[i]));
      const positions = { startPositions: ids64([1]), endPositions: ids64([[4]]) };
      const { startLogits, endLogits, loss } = model.call(ids64([text]), positions);
      assert.ok(distance(startLogits, [start]) < kTolerance);
      assert.ok(distance(endLogits, [end]) < kTolerance);
      assert.ok(Math.abs(loss.item() - (lossOf(start, 1) + lossOf(end, 4)) / 2) < 1e-4);
      const cut = { startPositions: ids64([1, 99]), endPositions: ids64([4, 99]) };
      const two = model.call(ids64([text, text]), cut);
      assert.ok(Math.abs(two.loss.item() - loss.item()) < 1e-5, "an answer that is cut off");
      assert.throws(
        () => model.call(ids64([text, text]), positions),
        /one for each of the 2 texts/,
      );
    });
  });
}

test("T5's encoder has the hidden states that its decoder reads", async (t) => {
  const warn = t.mock.method(console, "warn", () => {});
  for (const name of ["t5", "t5 1.1"]) {
    const { config, shapes, encoded } = kT5[name];
    const { tensors, arrays } = drawWeights(shapes);
    const files = filesOf(config, tensors);
    const model = await AutoModel.fromPretrained(files);
    const padded = ids64([[...text, 0, 0]]);
    const attentionMask = ids64([[1, 1, 1, 1, 1, 1, 0, 0]]);
    const { lastHiddenState } = model.call(padded, { attentionMask });
    assert.ok(distance(lastHiddenState.narrow(1, 0, 6), encoded(arrays, text)) < kTolerance);
    const own = { ...config, is_encoder_decoder: false };
    const alone = Object.entries(tensors).filter(([one]) => /^(?:encoder|shared)\./.test(one));
    const encoder = await AutoModel.fromPretrained(filesOf(own, Object.fromEntries(alone)));
    eg.testing.assertClose(
      encoder.call(padded, { attentionMask }).lastHiddenState,
      lastHiddenState,
    );
    assert.throws(() => model.call(padded, { tokenTypeIds: padded }), /token types/);
  }
  assert.deepEqual(
    warn.mock.calls.map(({ arguments: [one] }) => one).filter((one) => /decoder/.test(one)),
    [],
  );
});
