// The demos with several workers, shortened.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runNode } from "../support/child.mjs";

describe("demos/data_parallel.mjs", () => {
  const kDemo = "demos/data_parallel.mjs";

  test("--help lists the options, and a wrong one is explained", async () => {
    const help = await runNode([kDemo, "--help"]);
    assert.equal(help.status, 0);
    for (const name of ["workers", "steps", "batch"]) {
      assert.match(help.stdout, new RegExp(`--${name}`));
    }
    const { status, stderr } = await runNode([kDemo, "--workers", "3", "--batch", "64"]);
    assert.equal(status, 2);
    assert.match(stderr, /--batch: .*multiple of the 3 workers/);
  });

  test("has the losses of one worker with three", async () => {
    const args = ["--workers", "3", "--steps", "40", "--batch", "96"];
    const { status, stdout, stderr } = await runNode([kDemo, ...args]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /1 worker\(s\): \d+ samples\/s/);
    assert.match(stdout, /3 worker\(s\): \d+ samples\/s/);
    const apart = Number(/losses of a step: (\S+)/.exec(stdout)?.[1]);
    assert.ok(apart < 1e-4, stdout);
    const losses = [...stdout.matchAll(/last loss (\S+),/g)].map(([, loss]) => Number(loss));
    assert.ok(Math.max(...losses) < 1.2, stdout);
  });
});

describe("demos/hogwild.mjs", () => {
  test("trains as well with two workers as with one", async () => {
    const { status, stdout, stderr } = await runNode(["demos/hogwild.mjs"]);
    assert.equal(status, 0, stderr);
    const found = [...stdout.matchAll(/test accuracy ([\d.]+) %/g)].map(([, one]) => Number(one));
    assert.equal(found.length, 2);
    assert.ok(Math.min(...found) > 93, stdout);
  });
});
