// examples/torchrun: a training goes on under torchrun and comes back, with the losses of one that was never interrupted.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { eg } from "../js/support/engine.mjs";
import { kRoot } from "../js/support/files.mjs";

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "edgegrad-torchrun-"));
after(() => rmSync(folder, { recursive: true }));

const kExample = join(kRoot, "examples", "torchrun");
const kPython = "/usr/bin/python3";
// Without these, torchrun of Debian's PyTorch 1.13 fails in Python 3.11. There is no process 9.
const kOfDebian = ["--redirects", "9:1", "--tee", "9:1"];
const kSteps = 10;

const lossesOf = (output) =>
  Array.from(output.matchAll(/^step (\d+) {2}loss (\S+)$/gm), ([, step, loss]) => [
    Number(step),
    Number(loss),
  ]);

async function inNode(...args) {
  const script = join(kExample, "train.mjs");
  const { stdout } = await execute(process.execPath, [script, ...args.map(String)]);
  return lossesOf(stdout);
}

async function underTorchrun(processes, ...args) {
  const launch = ["--standalone", "--nproc_per_node", `${processes}`, ...kOfDebian];
  const script = join(kExample, "train.py");
  const env = { ...process.env, OMP_NUM_THREADS: "1", PYTHONDONTWRITEBYTECODE: "1" };
  const all = [...launch, script, ...args.map(String)];
  const { stdout } = await execute("/usr/bin/torchrun", all, { env, timeout: 120_000 });
  return lossesOf(stdout);
}

function assertSame(found, expected) {
  assert.equal(found.length, expected.length);
  for (const [i, [step, loss]] of found.entries()) {
    assert.equal(step, i + 1);
    const [, other] = expected[i];
    assert.ok(Math.abs(loss - other) <= 1e-5, `step ${step}: ${loss} instead of ${other}`);
  }
}

describe("a training that goes from Node to torchrun and back has the losses of one in Node", () => {
  const kBatch = 32;
  const steps = ["--steps", kSteps];

  for (const processes of [1, 2]) {
    test(`with ${processes} of its processes, which share the batch`, async () => {
      const save = ["--save", join(folder, `${processes}.pt`)];
      const found = [
        ...(await inNode(...steps, ...save)),
        ...(await underTorchrun(processes, ...steps, ...save, "--batch", kBatch / processes)),
        ...(await inNode(...steps, ...save)),
      ];
      assertSame(found, await inNode("--steps", 3 * kSteps));
    });
  }

  test("with two processes that have a batch each, as with batches of twice the size", async () => {
    const [two, one] = ["two.pt", "one.pt"].map((name) => ["--save", join(folder, name)]);
    const begin = await inNode(...steps, ...two);
    await inNode(...steps, ...one);
    const found = [...begin, ...(await underTorchrun(2, ...steps, ...two, "--batch", kBatch))];
    const expected = [...begin, ...(await inNode(...steps, ...one, "--batch", 2 * kBatch))];
    assertSame(found, expected);
  });
});

describe("examples/torchrun/names.py", () => {
  const { Linear, Sequential } = eg.nn;

  async function checkpoint(name) {
    const model = new Sequential(new Linear(2, 3), new Linear(3, 1));
    const optimizer = new eg.optim.Adam(model.parameters());
    model
      .call(eg.ones([1, 2]))
      .sum()
      .backward();
    optimizer.step();
    const parameters = [...model.namedParameters()].map(([key]) => key);
    const state = { model: model.stateDict(), parameters, optimizer: optimizer.stateDict() };
    const file = join(folder, name);
    writeFileSync(file, await eg.io.saveTorch(state));
    return file;
  }

  function convert(input, output, names, ...more) {
    const table = join(folder, "names.json");
    writeFileSync(table, JSON.stringify(names));
    const args = ["-B", join(kExample, "names.py"), input, output, "--names", table, ...more];
    return execute(kPython, args);
  }

  const load = (file) => eg.io.loadTorch(readFileSync(file));
  const plain = (value) =>
    JSON.stringify(value, (_, one) => (one instanceof eg.Tensor ? one.arraySync() : one));

  test("changes names there and back", async () => {
    const [input, there, back] = [await checkpoint("in.pt"), join(folder, "a"), join(folder, "b")];
    const names = { 0: "body.hidden", 1: "head" };
    await convert(input, there, names);
    const keys = ["body.hidden.weight", "body.hidden.bias", "head.weight", "head.bias"];
    assert.deepEqual(Object.keys((await load(there)).model), keys);
    assert.deepEqual((await load(there)).parameters, keys);
    await convert(there, back, names, "--back");
    assert.equal(plain(await load(back)), plain(await load(input)));
  });

  test("refuses keys that have no name, and names that two layers get", async () => {
    const input = await checkpoint("other.pt");
    const output = join(folder, "c");
    await assert.rejects(convert(input, output, { 0: "a" }), /no name for 1\.weight; there are 0/);
    await assert.rejects(convert(input, output, { 0: "a", 1: "a" }), /two keys get the same name/);
  });
});
