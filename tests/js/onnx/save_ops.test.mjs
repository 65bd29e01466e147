// save(): every op with a form in ONNX, which docs/guide/onnx_export.md lists, gives in onnxruntime what it gives here.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { save } from "edgegrad/onnx";
import { markedPart } from "../../../scripts/docs/marked_text.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import {
  kNoForm,
  kSaveable,
  kSavePage,
  listedName,
  namesIn,
  savedNames,
  saveTable,
} from "../support/onnx_pages.mjs";
import { assertSaves, runModel } from "../support/onnx_runtime.mjs";
import { kHidden, programOf } from "../support/onnx_samples.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

const text = readFileSync(kSavePage.path, "utf8");
const page = markedPart(text, kSavePage.part);
const listed = namesIn(page);

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
      if (!kNoForm.test(error.message)) {
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

test("the table of the guide lists what save() writes: npm run docs", async () => {
  const saved = await savedNames();
  assert.equal(
    page,
    saveTable((name) => saved.has(name)),
  );
});

test("what the guide says to have no form has none", () => {
  const [, section] = /^## Ops without a form\n(.*?)^## /ms.exec(text);
  const names = [...namesIn(section)];
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => listed.has(name) || !kSaveable.some(({ js }) => js === name)),
    [],
  );
});

describe("what the page lists gives in onnxruntime what it gives here, and no other op is written", () => {
  for (const op of kSaveable.filter(({ family }) => family !== compositeTable[0].family)) {
    test(op.js, async () => {
      assert.equal((await savedSamples(op, 20)) > 0, listed.has(listedName(op)));
    });
  }
});

describe("functions that are composed of ops are saved, whole or by their parts", () => {
  for (const op of compositeTable) {
    test(op.js, async () => {
      const count = await savedSamples(op, 20);
      if (listed.has(listedName(op))) assert.ok(count > 0);
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
