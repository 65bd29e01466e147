// What save() writes passes ONNX's own checker, with its inference of all shapes. Debian's package python3-onnx has it, for
// versions up to 17; it is installed if it is missing and can be, otherwise the test is skipped.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { save } from "edgegrad/onnx";
import { ensurePackages } from "../../../scripts/machine/apt.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { kHidden, programOf } from "../support/onnx_samples.mjs";
import { opTable, samplesOf } from "../support/op_samples.mjs";

const { nn } = eg;
const kChecker = "/usr/lib/python3/dist-packages/onnx/checker.py";
const folder = mkdtempSync(join(tmpdir(), "edgegrad-onnx-"));
let missing = "";

before(async () => {
  await ensurePackages("onnx").catch((error) => {
    missing = String(error.message);
  });
  if (!existsSync(kChecker)) missing ||= "this system has no package python3-onnx";
});
after(() => rmSync(folder, { recursive: true }));

const kProgram = `
import os, sys, onnx
for name in sorted(os.listdir(sys.argv[1])):
    try:
        onnx.checker.check_model(onnx.load(os.path.join(sys.argv[1], name)), full_check=True)
    except Exception as error:
        print(name, str(error).strip().replace(chr(10), " "))
`;

test("every sample of an op, and modules with dynamic axes", async (t) => {
  if (missing !== "") return t.skip(`no python3-onnx: ${missing}`);
  let count = 0;
  const write = async (name, target, inputs, options) => {
    const bytes = await save(target, { inputs, opset: 17, ...options });
    writeFileSync(join(folder, `${name.replace(/\W/g, "_")}.${count++}.onnx`), bytes);
  };
  for (const op of [...opTable, ...compositeTable].filter(({ js }) => !kHidden.test(js))) {
    for (const sample of samplesOf(op)) {
      const made = programOf(op, sample);
      if (made === null) continue;
      await write(op.js, made.program, made.inputs).catch((error) => {
        if (!/ONNX has no form of/.test(error.message)) throw error;
      });
    }
  }
  assert.ok(count > 700);
  const time = { dynamicAxes: { input: { 0: "batch", 1: "time" } } };
  await write("lstm", new nn.LSTM(3, 4, 2, { batchFirst: true }), [eg.ones([2, 5, 3])], time);
  await write("gru", new nn.GRU(3, 4, 2, { batchFirst: true }), [eg.ones([2, 5, 3])], time);
  const encoder = new nn.TransformerEncoderLayer(8, 2, { dimFeedforward: 16, batchFirst: true });
  await write("encoder", encoder, [eg.ones([2, 4, 8])], time);
  const { status, stdout, stderr } = spawnSync("/usr/bin/python3", ["-c", kProgram, folder], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, "");
});
