// ONNX's own test cases: every one gives what it should, except those listed here with the reason.
//
// They come with Debian's package libonnx-testdata, which is installed if it is missing and can be; otherwise the tests are skipped.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { before, describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { ensurePackages } from "../../../scripts/machine/apt.mjs";
import { eg } from "../support/engine.mjs";
import { cases, kCases, runCase } from "../support/onnx_cases.mjs";

/** Cases that fail, by the reason. A case here that passes is a failure, too. */
const kFailing = {
  "random numbers of NumPy's generator": [
    "node/bernoulli",
    "node/bernoulli_double",
    "node/bernoulli_double_expanded",
    "node/bernoulli_expanded",
    "node/bernoulli_seed",
    "node/bernoulli_seed_expanded",
    "node/training_dropout",
    "node/training_dropout_default",
    "node/training_dropout_default_mask",
    "node/training_dropout_mask",
  ],
  "the values were made with an epsilon that the model does not have": ["node/adam_multiple"],
  "the values are cut to bfloat16, which ONNX rounds to the nearest": [
    "node/cast_FLOAT_to_BFLOAT16",
  ],
  "an input has another shape than the model declares": [
    "node/castlike_BFLOAT16_to_FLOAT",
    "node/castlike_BFLOAT16_to_FLOAT_expanded",
    "node/castlike_FLOAT_to_BFLOAT16",
    "node/castlike_FLOAT_to_BFLOAT16_expanded",
  ],
  "the ends are aligned by the scale, and in PyTorch and onnxruntime by the sizes": [
    "node/resize_downsample_scales_cubic_align_corners",
    "node/resize_downsample_scales_linear_align_corners",
  ],
  "the op Gradient, a proposal that nothing exports": [
    "simple/gradient_of_add",
    "simple/gradient_of_add_and_mul",
  ],
};

describe("ONNX's own cases", () => {
  let missing = "";
  before(async () => {
    await ensurePackages("onnx").catch((error) => {
      missing = String(error.message);
    });
    if (!existsSync(kCases)) missing ||= "this system has no package libonnx-testdata";
  });

  test("pass, except those listed with a reason", async (t) => {
    if (missing !== "") return t.skip(`${kCases} is missing: ${missing}`);
    const reasons = new Map(
      Object.entries(kFailing).flatMap(([reason, names]) => names.map((name) => [name, reason])),
    );
    const wrong = [];
    let passed = 0;
    for (const [name, folder] of cases()) {
      // Random cases fail for every seed but a few.
      eg.manualSeed(1);
      const error = await failureOf(folder);
      if (error === null) passed++;
      if (error !== null && !reasons.has(name)) wrong.push(`${name}: ${error}`);
      if (error === null && reasons.has(name))
        wrong.push(`${name} passes, and is listed: ${reasons.get(name)}`);
    }
    t.diagnostic(`${passed} cases pass, ${reasons.size} are listed`);
    assert.deepEqual(wrong, []);
    assert.ok(passed >= 1050, `${passed} cases pass`);
  });
});

async function failureOf(folder) {
  try {
    await runCase(eg, onnx, folder);
    return null;
  } catch (error) {
    return error.message;
  }
}
