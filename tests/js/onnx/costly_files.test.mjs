// Small files that could cost much: what each part of a file takes is counted before it is made.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { field, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const kCount = 2 ** 20;

function varint(value) {
  const bytes = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return [...bytes, left];
}

function block(number, content) {
  const head = [...varint((number << 3) | 2), ...varint(content.length)];
  const bytes = new Uint8Array(head.length + content.length);
  bytes.set(head);
  bytes.set(content, head.length);
  return bytes;
}

function repeated(bytes, count = kCount) {
  const result = new Uint8Array(bytes.length * count);
  for (let i = 0; i < count; i++) result.set(bytes, i * bytes.length);
  return result;
}

const emptyFields = (number) => repeated([...varint((number << 3) | 2), 0]);

/** Each a graph, or what else is in the model. */
const kSmallParts = {
  nodes: block(7, emptyFields(1)),
  initializers: block(7, emptyFields(5)),
  "inputs of the graph": block(7, emptyFields(11)),
  "inputs of a node": block(7, block(1, emptyFields(1))),
  "outputs of a node": block(7, block(1, emptyFields(2))),
  attributes: block(7, block(1, emptyFields(5))),
  "texts of a tensor": block(7, block(5, emptyFields(6))),
  functions: emptyFields(25),
  "operator sets": emptyFields(8),
  metadata: emptyFields(14),
};

describe("a million empty parts are refused or cost little:", () => {
  for (const [what, bytes] of Object.entries(kSmallParts)) {
    test(what, async () => {
      await assert.rejects(onnx.load(bytes), (error) => {
        assert.ok(error instanceof eg.EdgeGradError, error.stack);
        assert.equal(error.code, "InvalidArgument");
        return true;
      });
    });
  }
});

test("elements of a tensor in several pieces are refused", async () => {
  // One element, another field, one element...
  const pieces = repeated([(4 << 3) | 2, 4, 0, 0, 128, 63, ...field(2, 1)], 10_000);
  await assert.rejects(onnx.load(block(7, block(5, pieces))), /elements of a tensor in pieces/);
});

const kOutput = [valueInfo("y", null)];

test("constants are folded up to a limit, and computed later beyond it", async () => {
  const count = 10_000;
  const constant = tensorProto("a0", [256], new Array(256).fill(1), 7);
  const nodes = Array.from({ length: count }, (_, i) =>
    node("Add", [`a${i}`, "a0"], [`a${i + 1}`]),
  );
  const module = await onnx.load(
    model({ initializers: [constant], outputs: [valueInfo(`a${count}`, null)], nodes }),
  );
  assert.equal(module.call().at(0).item(), count + 1);
});

test("graphs inside each other are looked through once", async () => {
  const attribute = (name, graph) =>
    field(5, [...field(1, name), ...block(6, graph), ...field(20, 5)]);
  const identity = [
    ...field(1, node("Identity", ["x"], ["e"])),
    ...field(12, valueInfo("e", null)),
  ];
  let inner = [...field(12, valueInfo("r0", null))];
  for (let i = 0; i < 300; i++) inner.push(...field(1, node("Relu", ["x"], [`r${i}`])));
  for (let depth = 0; depth < 60; depth++) {
    const branches = [...attribute("then_branch", inner), ...attribute("else_branch", identity)];
    const choice = [...field(1, "c"), ...field(2, `o${depth}`), ...field(4, "If"), ...branches];
    inner = [...block(1, choice), ...field(12, valueInfo(`o${depth}`, null))];
  }
  const inputs = [...field(11, valueInfo("x", [1])), ...field(11, valueInfo("c", [], 9))];
  const file = Uint8Array.from([...block(7, [...inputs, ...inner]), ...field(8, field(2, 17))]);
  const module = await onnx.load(file);
  const y = module.call(eg.tensor([-2]), eg.tensor(true));
  assert.deepEqual(y.tolist(), [0]);
});

test("names of a file do not make a message without end", async () => {
  const nodes = [node("Q".repeat(100_000), [], ["y"])];
  await assert.rejects(onnx.load(model({ nodes, outputs: kOutput })), (error) => {
    assert.match(error.message, /op Q{100}.*\(cut\)$/);
    assert.ok(error.message.length < 11_000);
    return true;
  });
});

describe("uint64 elements that int64 cannot hold", () => {
  const raw = [...new Uint8Array(new BigUint64Array([1n, 2n ** 63n]).buffer)];
  const head = [...field(1, 2), ...field(2, 13), ...field(8, "w")];
  const listed = [...head, ...field(11, 1), ...field(11, 2n ** 63n)];
  for (const [what, tensor] of [
    ["in raw data", [...head, ...field(9, new Uint8Array(raw))]],
    ["in a list", listed],
  ]) {
    test(`${what} are refused by value`, async () => {
      const bytes = model({
        initializers: [tensor],
        outputs: kOutput,
        nodes: [node("Identity", ["w"], ["y"])],
      });
      await assert.rejects(onnx.load(bytes), /uint64.*9223372036854775808/);
    });
  }
});
