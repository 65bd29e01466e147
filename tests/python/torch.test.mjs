// PyTorch reads the files that saveTorch writes as what was saved, and what it writes then is read here.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { kRoot } from "../js/support/files.mjs";
import { assertDescribed, bytesOf, described, kNames } from "../js/support/torch_files.mjs";

// Debian's, which has Debian's PyTorch.
const kPython = "/usr/bin/python3";

const { loadTorch, saveTorch } = eg.io;
const folder = mkdtempSync(join(tmpdir(), "edgegrad-torch-"));
after(() => rmSync(folder, { recursive: true }));

async function saved(name, value) {
  const file = join(folder, `${name}.pt`);
  writeFileSync(file, await saveTorch(value));
  return file;
}

function python(script, ...args) {
  const options = { encoding: "utf8", maxBuffer: 2 ** 26 };
  return execFileSync(kPython, ["-B", join(kRoot, script), ...args], options)
    .trim()
    .split("\n");
}

const dtypes = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"];
dtypes.push("complex64", "complex128", "float16", "bfloat16");
const base = eg.arange(6, { dtype: "float32" });

const kValues = {
  dtypes: Object.fromEntries(dtypes.map((dtype) => [dtype, eg.tensor([1, 0, 3]).to(dtype)])),
  tensors: [
    eg.tensor(5),
    eg.zeros([0, 3]),
    eg.tensor([1], { requiresGrad: true }),
    eg.ones([1]).expand([3]),
    base,
    base.narrow(0, 2, 3),
    base.reshape([2, 3]).t(),
  ],
  numbers: [
    ...[0, 1, -1, 255, 256, -129, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 0.5, -0, 1 / 0, -1 / 0, 0 / 0],
    ...[2n ** 53n, 2n ** 63n, -(2n ** 63n), -(2n ** 64n), 10n ** 400n, -(2n ** 2100n)],
  ],
  containers: {
    text: "naïve 😀\uFEFF",
    bytes: new Uint8Array([0, 127, 128, 255]),
    map: new Map([
      [null, 1],
      [[1, "a"], [2]],
      ["b", 3],
    ]),
    set: new Set(["x"]),
    complex: { re: 1, im: -2 },
    nested: [[{ a: [] }], {}],
    truth: [true, false, null],
  },
};

test("PyTorch reads what saveTorch writes, and loadTorch what PyTorch writes again", async () => {
  const files = [];
  for (const [name, value] of Object.entries(kValues)) files.push(await saved(name, value));
  for (const name of kNames) files.push(await saved(name, await loadTorch(bytesOf(name))));
  const lines = python("tests/python/torch_files.py", ...files);
  assert.equal(lines.length, files.length);
  for (const [i, file] of files.entries()) {
    const value = await loadTorch(readFileSync(file));
    assert.deepEqual(JSON.parse(lines[i]), described(value), file);
    for (const form of ["zip", "legacy"]) {
      assertDescribed(await loadTorch(readFileSync(`${file}.${form}`)), described(value));
    }
  }
});

test("PyTorch goes on with a training, reads weights alone, and shares what was shared", async () => {
  const model = new eg.nn.Sequential(new eg.nn.Linear(3, 4), new eg.nn.BatchNorm1d(4));
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.25 });
  model
    .call(eg.randn([5, 3]))
    .sum()
    .backward();
  optimizer.step();
  const files = [
    await saved("model", model.stateDict()),
    await saved("training", { optimizer: optimizer.stateDict() }),
    await saved("shared", {
      base,
      part: base.narrow(0, 4, 2),
      turned: base.reshape([2, 3]).t(),
      again: base,
    }),
  ];
  const lines = python("tests/python/torch_training.py", ...files);
  assert.deepEqual(lines, ["<All keys matched successfully>", "ok"]);
});

test("examples/torch_checkpoint goes back and forth", () => {
  const file = join(folder, "curve.pt");
  const options = { encoding: "utf8", cwd: kRoot };
  const run = (command, script) =>
    execFileSync(command, [`examples/${script}`, "--save", file, "--steps", "60"], options);
  const lossesOf = (output) => [...output.matchAll(/loss (\S+)/g)].map(([, loss]) => Number(loss));
  const losses = [
    ...lossesOf(run(process.execPath, "torch_checkpoint.mjs")),
    ...lossesOf(run(kPython, "torch_checkpoint.py")),
    ...lossesOf(run(process.execPath, "torch_checkpoint.mjs")),
  ];
  assert.ok(losses.at(-1) < losses[0] / 10, `${losses}`);
  assert.match(run(process.execPath, "torch_checkpoint.mjs"), /240 steps in all/);
});

test("examples/finetune_onnx goes on with a network of PyTorch", () => {
  const options = { encoding: "utf8", cwd: kRoot };
  const run = (...args) =>
    execFileSync(
      process.execPath,
      ["examples/finetune_onnx.mjs", "--steps", "8", ...args],
      options,
    );
  assert.match(run(), /comes from PyTorch \(pytorch /);
  const file = join(folder, "resnet.onnx");
  execFileSync(kPython, ["examples/finetune_onnx.py", "--out", file, "--steps", "4"], options);
  const output = run("--file", file);
  assert.match(output, /comes from \S+resnet\.onnx/);
  const losses = [...output.matchAll(/loss (\S+)/g)].map(([, loss]) => Number(loss));
  assert.ok(losses.at(-1) < losses[0], `${losses}`);
});
