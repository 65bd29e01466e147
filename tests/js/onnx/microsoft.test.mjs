// Ops of ONNX Runtime's domain: each is what its parts are.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, valueInfo } from "../support/onnx_models.mjs";

const kTypes = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9 };

/** Returns a model of one op; null is an input that is left out. */
function moduleFor(opType, inputs, attributes, count, outputTypes = []) {
  const names = inputs.map((one, i) => (one === null ? "" : `i${i}`));
  const given = inputs.map((one, i) => [names[i], one]).filter(([, one]) => one !== null);
  const declared = given.map(([name, one]) => valueInfo(name, one.shape, kTypes[one.dtype]));
  const outputs = Array.from({ length: count }, (_, i) => `o${i}`);
  return onnx.load(
    model({
      domains: { "com.microsoft": 1 },
      inputs: declared,
      outputs: outputs.map((name, i) => valueInfo(name, null, outputTypes[i])),
      nodes: [node(opType, names, outputs, attributes, { domain: "com.microsoft" })],
    }),
  );
}

/** Runs an op on tensors. */
async function outputsOf(opType, inputs, attributes = {}, count = 1, outputTypes = []) {
  const module = await moduleFor(opType, inputs, attributes, count, outputTypes);
  const result = module.call(...inputs.filter((one) => one !== null));
  return count === 1 ? [result] : result;
}

const assertClose = (found, wanted) =>
  eg.testing.assertClose(found, wanted, { rtol: 1e-4, atol: 1e-5 });
const randn = (...shape) => eg.randn(shape);
const heads = (x, count) => x.reshape([x.shape[0], x.shape[1], count, -1]).permute([0, 2, 1, 3]);
const joined = (x) => x.permute([0, 2, 1, 3]).reshape([x.shape[0], x.shape[2], -1]);
const attend = (q, k, v, mask = null) => {
  const scores = q.matmul(k.transpose(-1, -2)).div(Math.sqrt(q.shape.at(-1)));
  return (mask === null ? scores : scores.add(mask)).softmax(-1).matmul(v);
};
const kNever = Number.NEGATIVE_INFINITY;
const causal = (length, keys) =>
  eg
    .full([length, keys], kNever)
    .triu(keys - length + 1)
    .nanToNum({ neginf: kNever });

describe("com.microsoft", () => {
  test("activations with a bias", async () => {
    const [x, bias] = [randn(2, 3), randn(3)];
    assertClose((await outputsOf("BiasGelu", [x, bias]))[0], eg.gelu(x.add(bias)));
    assertClose(
      (await outputsOf("FastGelu", [x, bias]))[0],
      eg.gelu(x.add(bias), { approximate: "tanh" }),
    );
    assertClose((await outputsOf("Gelu", [x]))[0], eg.gelu(x));
    assertClose((await outputsOf("QuickGelu", [x]))[0], x.mul(x.mul(1.702).sigmoid()));
    assertClose(
      (await outputsOf("BiasSoftmax", [x, randn(2, 3).mul(0)], { axis: 1 }))[0],
      x.softmax(1),
    );
  });

  test("normalization of a sum", async () => {
    const [x, skip, gamma, beta, bias] = [
      randn(2, 3, 4),
      randn(2, 3, 4),
      randn(4),
      randn(4),
      randn(4),
    ];
    const sum = x.add(skip).add(bias);
    const layer = eg.layerNorm(sum, [4], { weight: gamma, bias: beta, eps: 1e-12 });
    const module = await onnx.load(
      model({
        domains: { "com.microsoft": 1 },
        inputs: ["x", "skip", "gamma", "beta", "bias"].map((name, i) =>
          valueInfo(name, i < 2 ? [2, 3, 4] : [4]),
        ),
        outputs: [valueInfo("y", null), valueInfo("sum", null)],
        nodes: [
          node(
            "SkipLayerNormalization",
            ["x", "skip", "gamma", "beta", "bias"],
            ["y", "", "", "sum"],
            {},
            { domain: "com.microsoft" },
          ),
        ],
      }),
    );
    const [y, total] = module.call(x, skip, gamma, beta, bias);
    assertClose(y, layer);
    assertClose(total, sum);
    const [rms] = await outputsOf("SkipSimplifiedLayerNormalization", [x, skip, gamma]);
    assertClose(rms, eg.rmsNorm(x.add(skip), [4], { weight: gamma, eps: 1e-5 }));
  });

  test("products", async () => {
    const [a, b, c] = [randn(2, 3), randn(4, 3), randn(4)];
    const [product] = await outputsOf("FusedMatMul", [a, b], { transB: 1, alpha: { float: 0.5 } });
    assertClose(product, a.matmul(b.t()).mul(0.5));
    const [gemm] = await outputsOf("FusedGemm", [a, b, c], { transB: 1, activation: "Relu" });
    assertClose(gemm, a.matmul(b.t()).add(c).relu());
  });

  test("a convolution with a sum and an activation", async () => {
    const [x, w, b] = [randn(1, 2, 5, 5), randn(3, 2, 3, 3), randn(3)];
    const whole = eg.conv2d(x, w, b);
    const z = randn(...whole.shape);
    const [y] = await outputsOf("FusedConv", [x, w, b, z], { activation: "Relu" });
    assertClose(y, whole.add(z).relu());
  });

  test("MultiHeadAttention with biases, a mask of keys and past keys", async () => {
    const [q, k, v, bias] = [randn(2, 3, 8), randn(2, 5, 8), randn(2, 5, 8), randn(24)];
    const [qb, kb, vb] = bias.chunk(3, 0);
    const parts = [q.add(qb), k.add(kb), v.add(vb)].map((one) => heads(one, 2));
    const [plain] = await outputsOf("MultiHeadAttention", [q, k, v, bias], { num_heads: 2 });
    assertClose(plain, joined(attend(...parts)));
    const lengths = eg.tensor([3, 5], { dtype: "int32" });
    const mask = eg
      .tensor([
        [0, 0, 0, kNever, kNever],
        [0, 0, 0, 0, 0],
      ])
      .reshape([2, 1, 1, 5]);
    const [masked] = await outputsOf("MultiHeadAttention", [q, k, v, bias, lengths], {
      num_heads: 2,
    });
    assertClose(masked, joined(attend(...parts, mask)));
    const past = [randn(2, 2, 4, 4), randn(2, 2, 4, 4)];
    const [y, keys] = await outputsOf(
      "MultiHeadAttention",
      [q, k, v, bias, null, null, ...past],
      { num_heads: 2, unidirectional: 1 },
      3,
    );
    const all = [1, 2].map((i) => eg.cat([past[i - 1], parts[i]], 2));
    assertClose(keys, all[0]);
    assertClose(y, joined(attend(parts[0], ...all, causal(3, 9))));
  });

  test("Attention with one matrix for query, key and value", async () => {
    const [x, w, bias] = [randn(2, 3, 6), randn(6, 24), randn(24)];
    const parts = x
      .matmul(w)
      .add(bias)
      .chunk(3, 2)
      .map((one) => heads(one, 2));
    const [y, present] = await outputsOf("Attention", [x, w, bias], { num_heads: 2 }, 2);
    assertClose(y, joined(attend(...parts)));
    assertClose(present, eg.stack(parts.slice(1), 0));
  });

  test("GroupQueryAttention with rotation, past keys and fewer heads of the key", async () => {
    const [q, k, v] = [randn(1, 3, 32), randn(1, 3, 16), randn(1, 3, 16)];
    const past = [randn(1, 2, 4, 8), randn(1, 2, 4, 8)];
    const [cos, sin] = [randn(20, 4), randn(20, 4)];
    const rotated = (x) => {
      const [a, b] = x.chunk(2, -1);
      const [c, s] = [cos, sin].map((one) => one.narrow(0, 4, 3));
      return eg.cat([a.mul(c).sub(b.mul(s)), b.mul(c).add(a.mul(s))], -1);
    };
    const inputs = [
      q,
      k,
      v,
      ...past,
      eg.tensor([6], { dtype: "int32" }),
      eg.tensor([7], { dtype: "int32" }),
      cos,
      sin,
    ];
    const [y, keys] = await outputsOf(
      "GroupQueryAttention",
      inputs,
      { num_heads: 4, kv_num_heads: 2, do_rotary: 1 },
      3,
    );
    const allKeys = eg.cat([past[0], rotated(heads(k, 2))], 2);
    const allValues = eg.cat([past[1], heads(v, 2)], 2);
    assertClose(keys, allKeys);
    const wide = [allKeys, allValues].map((one) => one.repeatInterleave(2, 1));
    assertClose(y, joined(attend(rotated(heads(q, 4)), ...wide, causal(3, 7))));
  });

  test("GroupQueryAttention with pasts of different lengths, and captured", async () => {
    const inputs = (rows, totals, past, cos, sin) => [
      ...rows,
      ...past,
      eg.tensor(
        totals.map((total) => total - 1),
        { dtype: "int32" },
      ),
      eg.tensor([6], { dtype: "int32" }),
      cos,
      sin,
    ];
    const attributes = { num_heads: 4, kv_num_heads: 2, do_rotary: 1 };
    const [cos, sin] = [randn(20, 4), randn(20, 4)];
    const rows = [randn(2, 1, 32), randn(2, 1, 16), randn(2, 1, 16)];
    const past = [randn(2, 2, 5, 8), randn(2, 2, 5, 8)];
    const given = inputs(rows, [6, 4], past, cos, sin);
    const [y] = await outputsOf("GroupQueryAttention", given, attributes, 3);
    for (const [row, total] of [6, 4].entries()) {
      const own = (one) => one.narrow(0, row, 1);
      const shorter = past.map((one) => own(one).narrow(2, 0, total - 1));
      const alone = inputs(rows.map(own), [total], shorter, cos, sin);
      const [wanted] = await outputsOf("GroupQueryAttention", alone, attributes, 3);
      assertClose(own(y), wanted);
    }
    const module = await moduleFor("GroupQueryAttention", given, attributes, 3);
    const captured = eg.capture((...all) => module.call(...all), ...given);
    assertClose(captured(...given)[0], y);
  });

  test("MatMulNBits with 4 and 8 bits, with and without zero points", async () => {
    const a = randn(2, 6);
    const numbers = [
      [1, 2, 3, 4, 5, 6],
      [15, 14, 0, 8, 9, 7],
    ];
    const scales = eg.tensor([0.5, 1, 2, 4]);
    const byBlock = (zeros) =>
      eg.tensor(
        numbers.map((row, n) =>
          row.map((one, i) => (one - zeros[2 * n + (i >> 2)]) * [0.5, 1, 2, 4][2 * n + (i >> 2)]),
        ),
      );
    // Two numbers in a byte, the first one lower; a block has four.
    const packed = eg.tensor(
      numbers.map((row) => [
        [row[0] | (row[1] << 4), row[2] | (row[3] << 4)],
        [row[4] | (row[5] << 4), 0],
      ]),
      { dtype: "uint8" },
    );
    const sizes = { K: 6, N: 2, block_size: 4 };
    const [y] = await outputsOf("MatMulNBits", [a, packed, scales], { ...sizes, bits: 4 });
    assertClose(y, a.matmul(byBlock([8, 8, 8, 8]).t()));
    const zeros = eg.tensor([1 | (2 << 4), 3 | (4 << 4)], { dtype: "uint8" });
    const [z] = await outputsOf("MatMulNBits", [a, packed, scales, zeros], { ...sizes, bits: 4 });
    assertClose(z, a.matmul(byBlock([1, 2, 3, 4]).t()));
    const bytes = eg.tensor(
      numbers.map((row) => [row.slice(0, 4), [row[4], row[5], 0, 0]]),
      { dtype: "uint8" },
    );
    const [w] = await outputsOf("MatMulNBits", [a, bytes, scales], { ...sizes, bits: 8 });
    assertClose(w, a.matmul(byBlock([128, 128, 128, 128]).t()));
  });

  test("MatMulNBits of many rows, a part of them at a time", async () => {
    const [K, N] = [512, 3000];
    const a = randn(2, K);
    const packed = eg.randint(0, 255, [N, K / 32, 16]).to("uint8");
    const scales = eg.rand([N * (K / 32)]);
    const [low, high] = [packed.bitwiseAnd(15), packed.bitwiseRightShift(4)];
    const numbers = eg
      .stack([low, high], -1)
      .reshape([N, K / 32, 32])
      .float()
      .sub(8);
    const weights = numbers.mul(scales.reshape([N, -1, 1])).reshape([N, K]);
    const [y] = await outputsOf("MatMulNBits", [a, packed, scales], {
      K,
      N,
      block_size: 32,
      bits: 4,
    });
    assertClose(y, a.matmul(weights.t()));
  });

  test("quantized sums and products", async () => {
    const [a, b] = [
      eg.tensor([2, 100], { dtype: "uint8" }),
      eg.tensor([4, 50], { dtype: "uint8" }),
    ];
    const [half, zero] = [eg.tensor(0.5), eg.tensor(0, { dtype: "uint8" })];
    const inputs = [a, half, zero, b, half, zero, half, zero];
    const [sum] = await outputsOf("QLinearAdd", inputs, {}, 1, [2]);
    assert.deepEqual(sum.arraySync(), [6, 150]);
    const [product] = await outputsOf("QLinearMul", inputs, {}, 1, [2]);
    assert.deepEqual(product.arraySync(), [4, 255]);
  });

  test("what only special kernels take is refused by name", async () => {
    const [q, k, v] = [randn(1, 3, 8), randn(1, 3, 8), randn(1, 3, 8)];
    const lengths = eg.tensor([2], { dtype: "int32" });
    await assert.rejects(
      outputsOf("GroupQueryAttention", [q, k, v, null, null, lengths, lengths], {
        num_heads: 2,
        kv_num_heads: 2,
        smooth_softmax: 1,
      }),
      { code: "InvalidArgument", message: /GroupQueryAttention.*not supported/ },
    );
  });
});
