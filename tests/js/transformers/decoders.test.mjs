// Language models of all families: their scores are those of their formulas on plain numbers (support/plain_decoders.mjs), with and without a cache,
// with padding, and in the texts that they write.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import {
  crossEntropyOf,
  distance,
  drawWeights,
  filesOf,
  idsOf,
  slopeDistance,
} from "../support/pretrained.mjs";

const kTolerance = 2e-5;
const argmax = (row) => row.indexOf(Math.max(...row));

for (const [name, { config, shapes, logits }] of Object.entries(kDecoders)) {
  describe(name, () => {
    const { tensors, arrays } = drawWeights(shapes);
    const ids = idsOf(9, config.vocab_size);
    const wanted = logits(arrays, ids);
    const opening = AutoModelForCausalLM.fromPretrained(filesOf(config, tensors));
    const row = (list) => eg.tensor([list], { dtype: "int64" });

    test("has the scores of its formulas", async () => {
      const model = await opening;
      assert.ok(distance(model.call(row(ids)).logits, wanted) < kTolerance);
    });

    test("has the same scores when tokens come in parts", async () => {
      const model = await opening;
      // The angles of these positions depend on how many there are.
      if (config.rope_scaling?.rope_type === "dynamic") return;
      if (config.rope_scaling?.type === "longrope") {
        eg.noGrad(() => {
          const { pastKeyValues } = model.call(row(ids.slice(0, 4)), { useCache: true });
          model.call(row(ids.slice(4, 6)), { pastKeyValues });
          const beyond = () => model.call(row(ids.slice(6)), { pastKeyValues });
          assert.throws(beyond, /cannot be used beyond 6 tokens.*the text has 9 now/);
        });
        return;
      }
      eg.noGrad(() => {
        const { pastKeyValues, logits: first } = model.call(row(ids.slice(0, 4)), {
          useCache: true,
        });
        const { logits: second } = model.call(row(ids.slice(4, 8)), { pastKeyValues });
        const { logits: third } = model.call(row(ids.slice(8)), { pastKeyValues });
        assert.equal(pastKeyValues.length, 9);
        assert.ok(distance(eg.cat([first, second, third], 1), wanted) < kTolerance);
      });
    });

    test("has the same scores beside padding", async () => {
      const model = await opening;
      if (config.rope_scaling?.rope_type === "dynamic") return;
      const padded = [[0, 0, 0, ...ids.slice(0, 6)], ids];
      const attentionMask = eg.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1], new Array(9).fill(1)]);
      const places = (list) => list.map((_, i) => i);
      const positionIds = eg.tensor([[1, 1, 1, ...places(ids.slice(0, 6))], places(ids)], {
        dtype: "int64",
      });
      const options = { attentionMask, positionIds };
      const { logits: own } = model.call(eg.tensor(padded, { dtype: "int64" }), options);
      if (config.rope_scaling?.type !== "longrope") {
        assert.ok(distance(own.at(0).narrow(0, 3, 6), wanted.slice(0, 6)) < kTolerance);
      }
      assert.ok(distance(own.at(1), wanted) < kTolerance);
    });

    test("writes the text of the best scores", async () => {
      const model = await opening;
      if (config.rope_scaling?.rope_type === "dynamic") return;
      const text = ids.slice(0, 3);
      for (let i = 0; i < 5; i++) text.push(argmax(logits(arrays, text).at(-1)));
      const options = { maxNewTokens: 5, eosTokenId: null };
      const written = await model.generate(row(ids.slice(0, 3)), options);
      assert.deepEqual(written.arraySync(), [text]);
      const attentionMask = eg.tensor([[0, 0, 1, 1, 1]]);
      const padded = await model.generate(row([0, 0, ...ids.slice(0, 3)]), {
        ...options,
        attentionMask,
      });
      assert.deepEqual(padded.arraySync(), [[0, 0, ...text]]);
    });

    test("writes files from which it is read again", async () => {
      const model = await opening;
      const files = await model.savePretrained();
      assert.deepEqual(JSON.parse(new TextDecoder().decode(files["config.json"])), config);
      const saved = eg.io.loadSafetensors(files["model.safetensors"]);
      assert.deepEqual(Object.keys(saved).sort(), Object.keys(tensors).sort());
      const again = await AutoModelForCausalLM.fromPretrained(files);
      eg.testing.assertClose(again.call(row(ids)).logits, model.call(row(ids)).logits);
    });

    test("has the gradients of its formulas", async () => {
      const model = await AutoModelForCausalLM.fromPretrained(filesOf(config, tensors));
      model.call(row(ids), { labels: row(ids) }).loss.backward();
      const lossOf = (w) => crossEntropyOf(logits(w, ids).slice(0, -1), ids.slice(1));
      assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
    });

    test("has gradients, which checkpointing does not change", async () => {
      const gradients = async (gradientCheckpointing) => {
        const model = await AutoModelForCausalLM.fromPretrained(filesOf(config, tensors), {
          gradientCheckpointing,
        });
        model.train();
        const [block] = model.modules().find((part) => part instanceof eg.nn.ModuleList);
        let runs = 0;
        block.registerForwardPreHook(() => void runs++);
        model.call(row(ids), { labels: row(ids) }).loss.backward();
        assert.equal(runs, gradientCheckpointing ? 2 : 1);
        return model.parameters().map(({ grad }) => grad);
      };
      const [plain, checkpointed] = [await gradients(false), await gradients(true)];
      assert.ok(plain.every((grad) => grad?.isfinite().all().item()));
      for (const [i, grad] of plain.entries()) eg.testing.assertClose(checkpointed[i], grad);
    });
  });
}
