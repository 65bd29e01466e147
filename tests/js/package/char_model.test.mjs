// The character model, shortened.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runNode } from "../support/child.mjs";

const kDemo = "demos/char_model.mjs";
const folder = mkdtempSync(join(tmpdir(), "edgegrad-char-model-"));
after(() => rmSync(folder, { recursive: true }));

describe("demos/char_model.mjs", () => {
  test("--help lists the options at once", async () => {
    const { status, stdout } = await runNode([kDemo, "--help"]);
    assert.equal(status, 0);
    for (const name of ["steps", "size", "device", "prompt", "temperature", "save"]) {
      assert.match(stdout, new RegExp(`--${name}`));
    }
  });

  test("says what is wrong with an option", async () => {
    for (const args of [["--steps", "-1"], ["--size", "huge"], ["--temperature", "0"], ["--no"]]) {
      const { status, stderr } = await runNode([kDemo, ...args]);
      assert.equal(status, 2);
      assert.match(stderr, /generates text/);
    }
  });

  test("learns, saves, writes, and resumes where it was", async () => {
    const save = join(folder, "model.safetensors");
    const args = [kDemo, "--threads", "1", "--save", save, "--characters", "30"];
    const first = await runNode([...args, "--steps", "60"]);
    assert.equal(first.status, 0, first.stderr);
    // An untrained model has a loss of log(75) = 4.3; a model of character frequencies alone has about 3.1.
    assert.ok(heldOut(first) < 3.1, first.stdout);
    assert.match(first.stdout, /\n\nCall me[\s\S]{30}\n$/);
    const second = await runNode([...args, "--steps", "20"]);
    assert.match(second.stdout, /resuming after step 60/);
    assert.ok(heldOut(second) < heldOut(first) + 0.1, second.stdout);
  });
});

function heldOut({ stdout }) {
  return Number(/held-out loss ([\d.]+)/.exec(stdout)?.[1]);
}
