// save(): names, versions and metadata, and what it refuses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load, save } from "edgegrad/onnx";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const x = eg.ones([2, 3]);

test("names, version, producer and metadata are in the file", async () => {
  const model = await load(
    await save((a, b) => [a.add(b), a.sub(b)], {
      inputs: [x, x],
      inputNames: ["left", "right"],
      outputNames: ["sum", "difference"],
      opset: 18,
      metadata: { author: "me" },
    }),
  );
  assert.deepEqual(
    [...model.inputs, ...model.outputs].map(({ name }) => name),
    ["left", "right", "sum", "difference"],
  );
  assert.equal(model.opset, 18);
  assert.equal(model.producer, `edgegrad ${eg.runtime().version}`);
  assert.equal(model.metadata.author, "me");
});

test("without names there are numbers", async () => {
  const model = await load(await save((a, b) => [a.add(b), b], { inputs: [x, x] }));
  assert.deepEqual(
    [...model.inputs, ...model.outputs].map(({ name }) => name),
    ["input", "input_1", "output", "output_1"],
  );
});

test("calls without a form in ONNX are one error with the modules that make them", async () => {
  class Gamma extends nn.Module {
    forward(input) {
      return input.lgamma();
    }
  }
  const model = new nn.Sequential(new Gamma(), new nn.ReLU(), new Gamma());
  model.add = new nn.Identity();
  const program = (a) => model.call(a).erfinv().inverse();
  await assertRejects(
    save(model, { inputs: [x] }),
    "InvalidArgument",
    /no form of these calls:\n {2}lgamma in 0\n {2}lgamma in 2\n/,
  );
  await assertRejects(
    save(program, { inputs: [eg.eye(2)] }),
    "InvalidArgument",
    / {2}lgamma\n {2}erfinv\n {2}inverse\n/,
  );
});

describe("refuses", () => {
  const options = { inputs: [x] };
  const same = (a) => a.clone();
  const wrong = {
    "another target": [() => save(3, options), /must be an nn.Module or a function/],
    "missing inputs": [() => save(same), /inputs: expected an array of tensors/],
    "inputs that are no tensors": [
      () => save(same, { inputs: [1] }),
      /inputs: expected an array of tensors/,
    ],
    "an unknown option": [
      () => save(same, { ...options, verbose: true }),
      /no option "verbose".*There are inputs/,
    ],
    "a name in snake_case": [() => save(same, { ...options, input_names: [] }), /Write inputNames/],
    "other opsets": [
      () => save(same, { ...options, opset: 16 }),
      /opset: expected one of the versions 17 to 22/,
    ],
    "too few names": [
      () => save(same, { ...options, inputNames: [] }),
      /inputNames: expected 1 names/,
    ],
    "equal names": [
      () => save((a, b) => a.add(b), { inputs: [x, x], inputNames: ["a", "a"] }),
      /different names/,
    ],
    "the name of an input for a result": [
      () => save(same, { ...options, outputNames: ["input"] }),
      /"input" is the name of an input or a parameter/,
    ],
    "axes that there are not": [
      () => save(same, { ...options, dynamicAxes: { input: { 2: "depth" } } }),
      /dimensions of "input", which has 2, got 2/,
    ],
    "axes of tensors that there are not": [
      () => save(same, { ...options, dynamicAxes: { inputs: [0] } }),
      /there is no input or result "inputs"/,
    ],
    "a result that is no tensor": [() => save(() => 3, options), /the result must be a tensor/],
    promises: [() => save(async (a) => a, options), /promise/],
    "the name of a parameter for an input": [
      () => save(new nn.Linear(3, 2), { ...options, inputNames: ["weight"] }),
      /inputNames: "weight" is the name of a parameter/,
    ],
    "options for a loaded model without inputs": [
      async () => save(await load(await save(same, options)), { opset: 18 }),
      /opset: without inputs a loaded model is written as it was/,
    ],
  };
  for (const [name, [run, message]] of Object.entries(wrong)) {
    test(name, () => assertRejects(run(), "InvalidArgument", message));
  }

  test("dtypes that ONNX has, but the ops have not, with the op", async () => {
    const complex = (a) =>
      a
        .mul(eg.complex(eg.ones([3]), eg.ones([3])))
        .real()
        .abs();
    await assertRejects(save(complex, options), "InvalidArgument", /no form/);
  });

  test("inputs and results of a dtype that ONNX does not have", async () => {
    const refused = (target, inputs) =>
      assertRejects(save(target, { inputs }), "DtypeMismatch", /ONNX has no tensors of complex64/);
    const pair = eg.complex(x, x);
    await refused(same, [pair]);
    await refused(() => pair, [x]);
  });

  test("only what a result needs", async () => {
    const unused = (a) => {
      a.lgamma();
      return a.add(1);
    };
    assert.ok((await save(unused, options)).length > 0);
  });

  test("an error of the function itself is that error", async () => {
    const own = new RangeError("own");
    const broken = () => {
      throw own;
    };
    await assert.rejects(save(broken, options), own);
    await assert.rejects(save(broken, { ...options, dynamicAxes: { input: [0] } }), own);
  });
});

test("reading values that depend on the inputs warns", async (t) => {
  const { mock } = t.mock.method(console, "warn", () => undefined);
  const known = eg.tensor([1, 2]);
  await save((a) => a.add(known.sum().item()), { inputs: [x] });
  assert.equal(mock.callCount(), 0);
  const program = (a) => (a.sum().item() > 0 && a.max().item() > 0 ? a.mul(2) : a);
  await save(program, { inputs: [x], dynamicAxes: { input: [0] } });
  assert.equal(mock.callCount(), 1);
  assert.match(mock.calls[0].arguments[0], /\[onnx\.save\] the module reads values that depend/);
});

test("nothing is left of the tensors that tracing made", async () => {
  const model = new nn.Sequential(new nn.Linear(3, 4), new nn.ReLU());
  await collectGarbage();
  const before = eg.memory().tensors;
  await save(model, { inputs: [x], dynamicAxes: { input: [0] } });
  assert.ok(eg.memory().tensors <= before);
});
