// Encoders and decoders of several layers; their numbers are in nn_golden.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const kSmall = { dimFeedforward: 8, dropout: 0 };

test("generateSquareSubsequentMask hides what comes later", () => {
  const mask = nn.Transformer.generateSquareSubsequentMask(3);
  const hidden = -Infinity;
  assert.deepEqual(mask.arraySync(), [
    [0, hidden, hidden],
    [0, 0, hidden],
    [0, 0, 0],
  ]);
  const double = nn.Transformer.generateSquareSubsequentMask(1, { dtype: "float64" });
  assert.equal(double.dtype, "float64");
  assertThrows(() => nn.Transformer.generateSquareSubsequentMask(-1), "InvalidArgument", /sz/);
});

describe("stacks of layers", () => {
  test("are copies of one, with the same first numbers and the names of PyTorch", () => {
    const layer = new nn.TransformerEncoderLayer(4, 2, kSmall);
    const encoder = new nn.TransformerEncoder(layer, 2, new nn.LayerNorm(4));
    const names = Object.keys(encoder.stateDict());
    assert.equal(names[0], "layers.0.self_attn.in_proj_weight");
    assert.equal(names.at(-1), "norm.bias");
    assert.equal(names.length, 2 * 12 + 2);
    const [first, second] = encoder.layers;
    assertTensor(first.linear1.weight, second.linear1.weight.dataSync());
    assert.ok(first !== second && first !== layer && first.linear1 !== second.linear1);
    const given = { norm: null, enableNestedTensor: false, maskCheck: true };
    assert.equal(new nn.TransformerEncoder(layer, 2, given).layers.length, 2);
    assert.equal(new nn.TransformerEncoder(layer, 1, null, false).norm, null);
    assertThrows(
      () => new nn.TransformerEncoder(layer, 2, { enableNestedTensor: 1 }),
      "InvalidArgument",
      /enableNestedTensor/,
    );
    assertThrows(() => new nn.TransformerEncoder(1, 2), "InvalidArgument", /encoderLayer/);
    assertThrows(() => new nn.TransformerDecoder(layer, 0), "InvalidArgument", /numLayers/);
  });

  test("hand on their masks", () => {
    const model = new nn.Transformer(4, 2, 2, 2, kSmall);
    const [src, tgt] = [eg.randn([3, 2, 4]), eg.randn([3, 2, 4])];
    const tgtMask = nn.Transformer.generateSquareSubsequentMask(3);
    const other = tgt.clone();
    other.select(0, 2).zero_();
    const run = (input, options) => model.call(src, input, options).narrow(0, 0, 2).dataSync();
    assertTensor(eg.tensor(run(other, { tgtMask })), run(tgt, { tgtMask }));
    assertTensor(eg.tensor(run(tgt, { tgtMask, tgtIsCausal: true })), run(tgt, { tgtMask }), {
      atol: 1e-5,
    });
    assert.notDeepEqual(run(other, {}), run(tgt, {}));
    const srcKeyPaddingMask = eg.tensor([
      [false, false, true],
      [false, false, true],
    ]);
    const memoryKeyPaddingMask = srcKeyPaddingMask;
    const padded = model.call(src, tgt, { srcKeyPaddingMask, memoryKeyPaddingMask });
    const short = model.call(src.narrow(0, 0, 2), tgt);
    assertTensor(padded, short.dataSync(), { atol: 1e-5 });
  });

  test("refuse what does not fit", () => {
    const model = new nn.Transformer(4, 2, 1, 1, kSmall);
    const [x, wide] = [eg.ones([3, 2, 4]), eg.ones([3, 2, 5])];
    assertThrows(() => model.call(x, wide), "ShapeMismatch", /expected . features \(dModel\)/);
    assertThrows(() => model.call(x, eg.ones([3, 1, 4])), "ShapeMismatch", /same batch size/);
    assertThrows(() => model.call(x, x, { mask: null }), "InvalidArgument", /unknown option/);
    assertThrows(() => new nn.Transformer({ nHead: 2 }), "InvalidArgument", /mean "nhead"/);
  });
});

test("the activation of a transformer layer may be a layer, which is then a part", () => {
  for (const Class of [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer]) {
    eg.manualSeed(3);
    const named = new Class(4, 2, 8, 0, "gelu");
    eg.manualSeed(3);
    const layer = new Class(4, 2, 8, 0, new nn.GELU());
    assert.ok(layer.getSubmodule("activation") instanceof nn.GELU);
    const inputs =
      Class === nn.TransformerEncoderLayer
        ? [[2, 3, 4]]
        : [
            [2, 3, 4],
            [2, 3, 4],
          ];
    const given = inputs.map((shape) => eg.randn(shape));
    assert.ok(eg.equal(layer.call(...given), named.call(...given)));
    assert.ok(layer.clone().activation !== layer.activation);
  }
  assertThrows(
    () => new nn.TransformerEncoderLayer(4, 2, { activation: 1 }),
    "InvalidArgument",
    /a function, or a layer, got number 1/,
  );
});
