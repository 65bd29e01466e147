// The bridge between Python and JavaScript on which PyTorch's tests run, by its own tests in Python.

import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const kPython = "/usr/bin/python3";
const kTests = join(fileURLToPath(new URL(".", import.meta.url)), "bridge_test.py");
const kSkip = existsSync(kPython) ? false : `${kPython} is missing`;

describe("the bridge to Python", { skip: kSkip }, () => {
  it("passes its tests in Python", () => {
    const { status, stderr } = spawnSync(kPython, [kTests], {
      encoding: "utf8",
      env: { ...process.env, EG_NODE: process.execPath },
    });
    assert.strictEqual(status, 0, stderr);
    assert.match(stderr, /^Ran \d+ tests/m);
  });
});
