// Whatever happens between calls, a captured function does the same as the original function, or throws.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/capture_programs.mjs";
import { eg } from "../support/engine.mjs";

const kPrograms = 400;

describe("random programs around a captured function", () => {
  test("agree with the function itself, or are refused", () => {
    let played = 0;
    let refused = 0;
    for (let seed = 1; seed <= kPrograms; seed++) {
      const outcome = eg.scope(() => runProgram(eg, "cpu", seed));
      played += outcome.played;
      if (outcome.refused !== undefined) refused++;
    }
    // Most actions are no reason to throw.
    assert.ok(played > kPrograms, `${played} calls were played, ${refused} programs refused`);
  });
});
