// Python habits: where JavaScript makes it possible, an error shows the correct form.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { kRoot } from "../support/files.mjs";

const x = eg.tensor([
  [1, 2],
  [3, 4],
]);
const model = new eg.nn.Linear(2, 2);

const kHints = [
  [() => x[0], /x\.at\(0\)/],
  [() => x[-1], /x\.at\(-1\)/],
  [() => model.weight[1], /x\.at\(1\)/],
  [() => x.length, /x\.shape\[0\].*x\.numel/],
  [() => Math.max.apply(null, x), /x\.shape\[0\]/],
  [() => eg.add(x[99], 1), /x\.at\(i\)/],
  [() => eg.matmul(x, x[99]), /x\.at\(i\)/],
  [() => eg.stack([x[98], x[99]]), /x\.at\(i\)/],
  [() => eg.tensor([x[98], x[99]]), /x\.at\(i\)/],
  [() => eg.tensor(x[99]), /x\.at\(i\)/],
  [() => model.call(x[99]), /x\.at\(i\)/],
  [() => new eg.nn.Buffer(x[99]), /x\.at\(i\)/],
  [() => Object.assign(x, { 0: 5 }), /x\.set_\(\[0\], value\)/],
  [() => x.at(":", 0), /eg\.slice\(\)/],
  [() => x.at(0, "1:"), /eg\.slice\(1\)/],
  [() => x.at("1:3"), /eg\.slice\(1, 3\)/],
  [() => x.at("-2:"), /eg\.slice\(-2\)/],
  [() => x.at("::2"), /eg\.slice\(null, null, 2\)/],
  [() => x.at(": 3"), /eg\.slice\(null, 3\)/],
  [() => x.set_([":", 0], 1), /eg\.slice\(\)/],
  [() => x.size * 2, /call x\.size\(\)/],
  [() => x.size[0], /x\.size\(0\)/],
  [() => x.dim > 1, /x\.ndim/],
  [() => 1 - x, /a\.sub\(b\)/],
  // biome-ignore lint/suspicious/noDoubleEquals: what is answered.
  [() => x == 1, /a\.eq\(b\)/],
  [() => -x, /a\.sub\(b\)/],
  [() => x.requires_grad, /x\.requiresGrad/],
  [() => Object.assign(x, { requires_grad: true }), /x\.requiresGrad/],
  [() => x.grad_fn, /x\.gradFn/],
  [() => x.is_leaf, /x\.isLeaf/],
  [() => x.unique(), /eg\.unique\(x\)/],
  [() => x.clip(0, 1), /eg\.clip\(x\)/],
  [() => x.quantile(0.5), /eg\.quantile\(x\)/],
  [() => x.numpy(), /x\.dataSync\(\)/],
  [() => x.cuda(), /x\.to\("webgpu"\)/],
  [() => x.type("torch.FloatTensor"), /x\.to\(/],
  [() => x.to("cuda:0"), /"webgpu"/],
  [() => eg.zeros([2], { device: "gpu" }), /"webgpu"/],
  [() => eg.func.grad(model), /=> module\.call/],
  [() => eg.func.vmap(model), /=> module\.call/],
  [() => eg.autograd.checkpoint(model, x), /=> module\.call/],
  [() => x.registerHook(model), /=> module\.call/],
  [() => new eg.optim.SGD(model.parameters, { lr: 1 }), /model\.parameters\(\)/],
];

for (const [call, hint] of kHints) {
  test(`${String(call).slice(6)} is answered with ${hint.source.replaceAll("\\", "")}`, () => {
    const before = String(x);
    assertThrows(call, "InvalidArgument", hint);
    assert.equal(String(x), before);
  });
}

const kDTypes = {
  long: "int64",
  float: "float32",
  double: "float64",
  half: "float16",
  int: "int32",
  short: "int16",
  char: "int8",
  byte: "uint8",
  boolean: "bool",
  cfloat: "complex64",
  "torch.float64": "float64",
  "torch.long": "int64",
  Float32: "float32",
  f32: "float32",
  bf16: "bfloat16",
  i64: "int64",
};

describe("a dtype of another name is answered with the right one:", () => {
  for (const [wrong, right] of Object.entries(kDTypes)) {
    test(wrong, () => {
      const hint = new RegExp(`Write "${right}"\\.`);
      for (const call of [
        () => eg.zeros([2], { dtype: wrong }),
        () => eg.tensor([1], { dtype: wrong }),
        () => eg.sum(x, { dtype: wrong }),
        () => x.to(wrong),
        () => x.to({ dtype: wrong }),
        () => eg.finfo(wrong),
        () => model.to(wrong),
      ]) {
        assertThrows(call, "InvalidArgument", hint);
      }
    });
  }

  test("where only some may be chosen, one of those", () => {
    assertThrows(() => eg.setDefaultDtype("double"), "InvalidArgument", /Write "float64"\.$/);
    assertThrows(() => eg.setDefaultDtype("long"), "InvalidArgument", /got "long"\.$/);
    const lower = (dtype) => eg.autocast(() => x, { dtype });
    assertThrows(() => lower("half"), "InvalidArgument", /Write "float16"\.$/);
    assertThrows(() => lower("float"), "InvalidArgument", /got "float"\.$/);
  });

  test("one that is nothing has no hint", () => {
    assertThrows(() => eg.zeros([2], { dtype: "quux" }), "InvalidArgument", /got "quux"\.$/);
    assertThrows(
      () => eg.zeros([2], { dtype: "constructor" }),
      "InvalidArgument",
      /"constructor"\.$/,
    );
  });
});

test("dtypes are there under PyTorch's names, so that none is undefined and passed over", () => {
  const names = "uint8 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 bool";
  for (const name of names.split(" ")) {
    assert.equal(eg[name], name);
    assert.equal(eg.zeros([2], { dtype: eg[name] }).dtype, name);
  }
  const other = {
    half: "float16",
    float: "float32",
    double: "float64",
    int: "int32",
    long: "int64",
  };
  for (const [name, dtype] of Object.entries(other)) assert.equal(eg[name], dtype);
});

test("what is pointed to as a function is one, and no method", () => {
  const [, list] = /kFunctions =([^;]*);/.exec(
    readFileSync(`${kRoot}web/src/ops/hints.ts`, "utf8"),
  );
  const names = list.match(/\w+/g);
  assert.ok(names.length > 60);
  for (const name of names) {
    assert.equal(typeof eg[name], "function", name);
    assertThrows(() => x[name](), "InvalidArgument", new RegExp(`eg\\.${name}\\(x\\)`));
  }
});

test("what is right meets no hint", () => {
  assert.deepEqual(Object.keys(x), Object.keys(eg.zeros([1])));
  assert.equal(`${x.size}`, "size");
  assert.deepEqual([x.size(), x.size(0), x.dim()], [[2, 2], 2, 2]);
  assert.deepEqual(
    [...x].map((row) => row.tolist()),
    [
      [1, 2],
      [3, 4],
    ],
  );
  for (const name in x) assert.ok(Object.hasOwn(x, name), name);
});
