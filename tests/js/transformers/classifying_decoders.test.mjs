// Language models with a head for classes, which reads the last token that is no padding.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoModel, AutoModelForSequenceClassification } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { drawWeights, filesOf } from "../support/pretrained.mjs";

const ids = (lists) => eg.tensor(lists, { dtype: "int64" });

for (const name of ["llama", "gemma2", "gpt2"]) {
  describe(name, () => {
    const { config, shapes } = kDecoders[name];
    const { tensors } = drawWeights({ ...shapes, "score.weight": [3, 16] });
    const { "lm_head.weight": _, ...body } = tensors;
    const own = { ...config, id2label: { 0: "a", 1: "b", 2: "c" } };
    const padded = ids([
      [5, 6, 7, 3],
      [8, 9, 0, 0],
    ]);

    test("scores the classes by the last token that is no padding", async (t) => {
      t.mock.method(console, "warn", () => {});
      const files = filesOf({ ...own, pad_token_id: 0 }, body);
      const model = await AutoModelForSequenceClassification.fromPretrained(files);
      const features = await AutoModel.fromPretrained(files);
      const last = (list) => features.call(ids([list])).lastHiddenState.at(0, -1);
      const hidden = eg.stack([last([5, 6, 7, 3]), last([8, 9])]);
      const labels = ids([2, 0]);
      const { logits, loss } = model.call(padded, { labels });
      const wanted = eg.linear(hidden, body["score.weight"]);
      eg.testing.assertClose(logits, wanted, { rtol: 1e-4, atol: 1e-4 });
      eg.testing.assertClose(loss, eg.crossEntropy(logits, labels));
      loss.backward();
      assert.ok(model.parameters().every(({ grad }) => grad?.isfinite().all().item()));
    });

    test("takes one text at a time without a token for padding", async () => {
      const model = await AutoModelForSequenceClassification.fromPretrained(filesOf(own, body));
      assert.deepEqual(model.call(ids([[5, 6]])).logits.shape, [1, 3]);
      assert.throws(() => model.call(padded), /set pad_token_id in config\.json/);
    });
  });
}
