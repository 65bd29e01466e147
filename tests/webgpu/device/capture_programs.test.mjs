// Like tests/js/autograd/capture_programs.test.mjs, on the device.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../../js/support/capture_programs.mjs";
import { eg, options } from "../support/engine.mjs";

const kPrograms = 40;

describe("random programs around a captured function on the device", options, () => {
  test("agree with the function itself, or are refused", () => {
    let played = 0;
    for (let seed = 1; seed <= kPrograms; seed++)
      played += eg.scope(() => runProgram(eg, "webgpu", seed)).played;
    assert.ok(played > kPrograms / 2, `${played} calls were played`);
  });
});
