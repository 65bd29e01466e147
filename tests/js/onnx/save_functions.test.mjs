// save() of functions: changes in place, views, constants, and numbers that depend on the sizes of the inputs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load, save } from "edgegrad/onnx";
import { assertRejects } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertSaves } from "../support/onnx_runtime.mjs";

const { nn } = eg;
const F = nn.functional;
const x = eg.randn([2, 3]);

describe("changes in place are written as what they compute", () => {
  const programs = {
    "of a tensor": (a) => a.clone().add_(1).mul(2),
    "of a row": (a) => changed(a, [0], 5),
    "of a column": (a) => changed(a, ["...", 1], a.select(1, 0)),
    "of a part of a part": (a) => changed(a, [eg.slice(0, 1), eg.slice(1, 3)], 7),
    "of the last columns": (a) => changed(a, ["...", eg.slice(-2)], 7),
    "where a mask is true": (a) => changed(a, [a.gt(0)], 0),
    "at positions": (a) => changed(a, [eg.tensor([1], { dtype: "int64" })], 3),
    "are seen by views, before and after": (a) => {
      const b = a.clone();
      const [flat, turned] = [b.reshape(-1), b.t()];
      b.mul_(3);
      flat.add_(1);
      return [b, flat, turned];
    },
    "of other handles of a tensor": (a) => {
      const b = a.clone();
      b.contiguous().add_(1);
      b.to("float32").mul_(2);
      eg.dropout(b, 0.5, false).sub_(3);
      b.t().contiguous().add_(7);
      return b;
    },
    "of a constant leave what was computed from it": (a) => {
      const zeros = eg.zeros([2, 3]);
      const ones = zeros.add(1);
      zeros.set_([0], a.select(0, 1));
      return [zeros.add(ones), ones];
    },
    "of constants only": (a) => a.add(eg.tensor([1, 2, 3]).mul_(2)),
  };
  for (const [name, program] of Object.entries(programs)) {
    test(name, () => assertSaves(program, [x]));
  }
});

/** Returns a copy of a tensor with a value written into it. */
function changed(tensor, index, value) {
  const copy = tensor.clone();
  copy.set_(index, value);
  return copy;
}

test("changes of views that are not known are errors", async () => {
  const everySecond = (a) => changed(a, ["...", eg.slice(0, null, 2)], 0);
  const diagonal = (a) => {
    const b = a.clone();
    b.diagonal().add_(1);
    return b;
  };
  const message = /no form of this call:\n {2}changeOfView \((?:of every n-th|made by diagonal)/;
  for (const program of [everySecond, diagonal]) {
    await assertRejects(save(program, { inputs: [x] }), "InvalidArgument", message);
  }
  const summed = (a) => {
    const b = a.clone();
    eg.einsum("ij->ji", b).add_(1);
    return b;
  };
  await assertRejects(save(summed, { inputs: [x] }), "InvalidArgument", /does not know of what/);
});

describe("functions", () => {
  class Twice extends eg.autograd.Function {
    static forward(_, input) {
      return input.mul(2).relu();
    }
    static backward(_, grad) {
      return grad;
    }
  }
  const programs = {
    "a custom Function": (a) => Twice.apply(a).add(1),
    vmap: (a) => eg.func.vmap((row) => row.sum().mul(row))(a),
    checkpoint: (a) => eg.autograd.checkpoint((b) => b.mul(2).tanh(), a),
    "conversions that change nothing": (a) => a.to("float32").cpu().add(1).double().float(),
    "inputs and constants as results": (a) => [a, a, eg.ones([2]), a.add(0)],
    "numbers of several dtypes": (a) => [
      a.gt(0).add(1),
      a.argmax(1).mul(2.5),
      a.to("int64").div(2),
    ],
  };
  for (const [name, program] of Object.entries(programs)) {
    test(name, () => assertSaves(program, [x]));
  }

  test("names of the properties of a result are those of the results", async () => {
    const program = (a) => ({ logits: a.mul(2), hidden: [a.add(1), a.sub(1)], loss: null });
    const { outputs } = await load(await assertSaves(program, [x]));
    assert.deepEqual(
      outputs.map(({ name }) => name),
      ["logits", "hidden", "hidden_1"],
    );
  });

  test("sizes that depend on elements are left open", async () => {
    const program = (a) => [a.maskedSelect(a.gt(0)).mul(2), a.gt(0).nonzero(), a.at(a.gt(0)), a];
    const given = eg.tensor([
      [1, -1],
      [2, 3],
    ]);
    const others = [
      eg.tensor([
        [-1, -1],
        [-2, 3],
      ]),
    ];
    const { outputs } = await load(await assertSaves(program, [given], {}, others));
    assert.deepEqual(
      outputs.map(({ shape }) => shape),
      [[null], [null, null], [null], [2, 2]],
    );
  });

  test("what does not depend on the inputs is computed once", async () => {
    const program = (a) =>
      a.add(
        eg
          .arange(3)
          .exp()
          .sum()
          .mul(eg.ones([3])),
      );
    const bytes = await assertSaves(program, [x]);
    const text = new TextDecoder().decode(bytes);
    assert.doesNotMatch(text, /Exp|Range|ReduceSum|Mul/);
  });

  test("parameters that a function uses are trained after loading", async () => {
    const weight = new nn.Parameter(eg.randn([3, 4]));
    const model = await load(await assertSaves((a) => a.matmul(weight), [x]));
    assert.deepEqual(
      model.namedParameters().map(([name]) => name),
      ["parameter"],
    );
  });
});

describe("dynamic axes", () => {
  const batch = { dynamicAxes: { input: { 0: "batch", 1: "time" } } };
  const small = eg.randn([2, 3, 4]);
  const large = eg.randn([5, 7, 4]);
  const programs = {
    "products of sizes": (a) => a.reshape([a.shape[0] * a.shape[1], -1]),
    "numbers computed from sizes": (a) => a.mul(a.shape[0]).add(1 / Math.sqrt(a.shape[1])),
    "new tensors": (a) => {
      const [rows, steps] = a.shape;
      const places = eg.arange(steps).add(eg.linspace(0, 1, steps));
      const more = [eg.zeros([rows, steps]), eg.full([rows, steps], 3), eg.ones([rows, steps])];
      return a.sum(-1).add(places).add(eg.eye(steps).sum(0)).add(eg.stack(more).sum(0));
    },
    "tensors made of sizes, or of one number": (a) => {
      const [rows, steps] = a.shape;
      const filled = eg.tensor(new Array(rows * steps).fill(2), { shape: [rows, steps] });
      return [filled.add(a.sum(-1)), eg.tensor([rows, steps]).prod().add(a)];
    },
    "tensors like others": (a) => eg.onesLike(a).add(eg.zerosLike(a)).add(eg.fullLike(a, 2)),
    "causal masks": (a) => {
      const mask = eg.ones([a.shape[1], a.shape[1]]).tril();
      return a.matmul(a.mT).maskedFill(mask.eq(0), -Infinity).softmax(-1);
    },
    "causal attention": (a) => F.scaledDotProductAttention(a, a, a, { isCausal: true }),
    "parts of a table": (a) => a.add(eg.arange(64).narrow(0, 0, a.shape[1]).unsqueeze(-1)),
    "halves and ends": (a) => [a.chunk(2, -1)[1], a.at("...", eg.slice(1)), a.select(1, -1)],
    sorting: (a) => a.sort(1),
    "variances and flips": (a) => [a.var([0, 1]), a.flip([1]), a.mean(1), a.cumsum(1)],
    "changes of the last step": (a) => {
      const b = a.clone();
      b.set_([eg.slice(), -1], 0);
      return b;
    },
    einsum: (a) => eg.einsum("bti,bsi->bts", a, a),
  };
  for (const [name, program] of Object.entries(programs)) {
    test(name, () => assertSaves(program, [small], batch, [large]));
  }

  test("of images", async () => {
    const program = (image) => {
      const half = F.avgPool2d(image, 2);
      const back = F.interpolate(half, { size: [image.shape[2], image.shape[3]] });
      const whole = F.avgPool2d(image, [image.shape[2], image.shape[3]]);
      return back.flatten(1).sum(1).div(half.shape[2]).add(whole.flatten(1).sum(1));
    };
    const axes = { dynamicAxes: { input: { 0: "batch", 2: "height", 3: "width" } } };
    await assertSaves(program, [eg.randn([1, 2, 8, 8])], axes, [eg.randn([3, 2, 12, 16])]);
  });

  test("of several inputs share a name, and results have it", async () => {
    const options = {
      inputNames: ["a", "b"],
      outputNames: ["sum", "flat"],
      dynamicAxes: { a: { 0: "batch" }, b: { 0: "batch" } },
    };
    const program = (a, b) => [a.add(b), a.reshape(-1)];
    const bytes = await assertSaves(program, [x, x], options, [eg.randn([4, 3]), eg.randn([4, 3])]);
    const { inputs, outputs } = await load(bytes);
    assert.deepEqual(
      [...inputs, ...outputs].map(({ shape }) => shape),
      [["batch", 3], ["batch", 3], ["batch", 3], ["flat_dim_0"]],
    );
    await assertRejects(
      save(program, { ...options, inputs: [x, eg.randn([3, 3])] }),
      "ShapeMismatch",
      /"batch" is 2 in one input and 3 in another/,
    );
  });

  test("a loop over one and a tensor made from one are errors that say so", async () => {
    const loop = (a) => {
      let sum = a.select(0, 0);
      for (let i = 1; i < a.shape[0]; i++) sum = sum.add(a.select(0, i));
      return sum;
    };
    const made = (a) => a.mul(eg.tensor(Array.from({ length: a.shape[0] }, (_, i) => i % 2)).sum());
    const options = { inputs: [x], dynamicAxes: { input: [0] } };
    await assertRejects(
      save(loop, options),
      "InvalidArgument",
      /the number of ops depends on the size/,
    );
    await assertRejects(save(made, options), "InvalidArgument", /made from numbers that depend/);
  });
});
