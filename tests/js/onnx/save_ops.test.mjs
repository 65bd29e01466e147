// save(): every op with a form in ONNX, which docs/guide/onnx_export.md lists, gives in onnxruntime what it gives here.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { save } from "edgegrad/onnx";
import { compositeTable } from "../support/composite_samples.mjs";
import { kRoot } from "../support/files.mjs";
import { assertSaves, runModel } from "../support/onnx_runtime.mjs";
import { kHidden, programOf } from "../support/onnx_samples.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

// What the page lists: the names between backticks in its table.
const [, table] = readFileSync(`${kRoot}docs/guide/onnx_export.md`, "utf8").split("## The ops");
const rows = table.split("\n").filter((line) => line.startsWith("| "));
const listed = new Set(
  rows.flatMap((line) => line.match(/`[^`]+`/g) ?? []).map((one) => one.slice(1, -1)),
);

const kNamesOnPage = { slice: "at", index: "at", indexPut_: "set_" };

// Ops whose results are random, and those that need sorted operands, which the samples are not.
const kDraws = new Set(["rand", "randn", "randLike", "randnLike", "bernoulli", "dropout"]);
const kOfSorted = new Set(["searchsorted", "bucketize"]);

/** Saves the samples of an op and compares them; returns how many have a form in ONNX. */
async function savedSamples(op, opset, dtype) {
  let count = 0;
  for (const sample of samplesOf(op)) {
    const made = programOf(op, sample, dtype);
    if (made === null) continue;
    const { program, inputs } = made;
    if (dtype !== undefined && !isTaken(program, inputs)) continue;
    try {
      if (kDraws.has(op.js) || kOfSorted.has(op.js)) await assertRuns(program, inputs, opset);
      else await assertSaves(program, inputs, { opset });
      count++;
    } catch (error) {
      if (!/ONNX has no form of/.test(error.message)) {
        throw new Error(`${op.js}(${sample.text}): ${error.message}`);
      }
    }
  }
  return count;
}

// False for a call that the op itself refuses.
function isTaken(program, inputs) {
  try {
    program(...inputs);
    return true;
  } catch {
    return false;
  }
}

async function assertRuns(program, inputs, opset) {
  const { output } = await runModel(await save(program, { inputs, opset }), inputs);
  assert.deepEqual(output.shape, program(...inputs).shape);
}

describe("every op of the page saves, and no other", () => {
  for (const op of opTable.filter(({ js }) => !kHidden.test(js))) {
    // bernoulli_() is not the in-place form of bernoulli(), but draws with a given probability.
    const base = op.js === "bernoulli_" ? op.js : op.js.replace(/_$/, "");
    const isListed = listed.has(kNamesOnPage[op.js] ?? op.js) || listed.has(base);
    test(op.js, async () => assert.equal((await savedSamples(op, 20)) > 0, isListed));
  }
});

describe("functions that are composed of ops are saved, whole or by their parts", () => {
  for (const op of compositeTable) {
    test(op.js, async () => {
      const count = await savedSamples(op, 20);
      if (listed.has(op.js)) assert.ok(count > 0);
    });
  }
});

// The ops whose nodes depend on the version, and some of each kind.
const kVersioned = (
  "gelu mish mean amax prod norm logsumexp split chunk pad bitwiseAnd bitwiseNot layerNorm groupNorm batchNorm gridSample " +
  "scatterReduce scatter interpolate avgPool2d maxPool2d conv2d softmax argmax topk crossEntropy cumsum hardswish einsum"
).split(" ");

describe("every version from 17 to 22", () => {
  for (const opset of [17, 18, 19, 21, 22]) {
    test(`opset ${opset}`, async () => {
      for (const name of kVersioned) {
        const op = [...opTable, ...compositeTable].find(
          ({ js }) => js === name || js === `nn.functional.${name}`,
        );
        const count = await savedSamples(op, opset);
        const isOfLater = opset < 18 && /^bitwiseAnd$/.test(name);
        assert.equal(count > 0, !isOfLater, name);
      }
    });
  }
});

describe("what nodes do not take is refused, or computed in another type:", () => {
  for (const dtype of ["int64", "uint8", "bool"]) {
    test(dtype, async () => {
      let count = 0;
      for (const op of opTable.filter(({ js }) => !kHidden.test(js))) {
        count += await savedSamples(op, 20, dtype);
      }
      assert.ok(count > 300, `${count}`);
    });
  }
});
