// The MNIST demo, shortened.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runNode } from "../support/child.mjs";

const kDemo = "demos/mnist.mjs";
const folder = mkdtempSync(join(tmpdir(), "edgegrad-demo-"));
after(() => rmSync(folder, { recursive: true }));

describe("demos/mnist.mjs", () => {
  test("--help lists the options at once", async () => {
    const { status, stdout } = await runNode([kDemo, "--help"]);
    assert.equal(status, 0);
    for (const name of ["model", "epochs", "batch", "lr", "threads", "variant", "seed", "out"]) {
      assert.match(stdout, new RegExp(`--${name}`));
    }
  });

  test("says what is wrong with an option", async () => {
    for (const args of [
      ["--epochs", "many"],
      ["--lr", "-1"],
      ["--variant", "x"],
      ["--model", "x"],
      ["--nonsense"],
    ]) {
      const { status, stderr } = await runNode([kDemo, ...args]);
      assert.equal(status, 2);
      assert.match(stderr, /Trains a digit classifier/);
    }
  });

  test("learns to read digits in one pass", async () => {
    const out = join(folder, "one.safetensors");
    const { status, stdout, stderr } = await runNode([
      kDemo,
      ...["--epochs", "1", "--batch", "256", "--threads", "1", "--out", out],
    ]);
    assert.equal(status, 0, stderr);
    const accuracy = Number(/test accuracy ([\d.]+) %/.exec(stdout)?.[1]);
    assert.ok(accuracy > 93, stdout);
    assert.equal(stdout.match(/\(\d+ %\)/g)?.length, 5);
    assert.ok(statSync(out).size > 800_000);
  });

  test("Ctrl-C saves and ends with 130", async () => {
    const out = join(folder, "stopped.safetensors");
    let isSent = false;
    const { status, stdout } = await runNode(
      [kDemo, "--epochs", "100", "--threads", "1", "--out", out],
      {
        onOutput: (child, { stdout: text }) => {
          // If an epoch takes only a second, no progress lines are printed.
          if (isSent || !/samples\/s|test accuracy/.test(text)) return;
          isSent = true;
          child.kill("SIGINT");
        },
      },
    );
    assert.equal(status, 130);
    assert.match(stdout, /interrupted/);
    assert.ok(statSync(out).size > 800_000);
  });
});
