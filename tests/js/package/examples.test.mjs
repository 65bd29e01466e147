// Every example runs for a few steps, reports its results, and writes its models as ONNX files that onnxruntime runs as well.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runNode } from "../support/child.mjs";

const kSteps = 3;
const kExamples = readdirSync("examples").filter((name) => name.endsWith(".mjs"));
const folder = mkdtempSync(join(tmpdir(), "edgegrad-examples-"));
after(() => rmSync(folder, { recursive: true }));

/** Returns the numbers named `name` that an example printed. */
async function numbersOf(name, ...args) {
  const { status, stdout, stderr } = await runNode(args);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
  return [...stdout.matchAll(new RegExp(`^step (\\d+) .*\\b${name} (\\S+)`, "gm"))].map(
    ([, step, value]) => ({ step: Number(step), value: Number(value) }),
  );
}

// A table of a million rows is a file of 64 MB, and ONNX has no sparse matrices.
const kWithoutModel = new Set(["recommender.mjs", "large_graph.mjs"]);

const kNumbers = { dcgan: "generator", reinforce: "usual" };

describe("an example runs:", () => {
  for (const file of kExamples) {
    test(file, async () => {
      const name = kNumbers[file.replace(".mjs", "")] ?? "loss";
      const args = ["--steps", String(kSteps), "--onnx", folder];
      const reported = await numbersOf(name, `examples/${file}`, ...args);
      assert.ok(reported.length >= kSteps);
      assert.equal(reported.at(-1).step, kSteps);
      for (const { value } of reported) assert.ok(Number.isFinite(value));
      if (kWithoutModel.has(file)) return;
      const models = readdirSync(folder).filter((model) => model.startsWith(file.slice(0, -4)));
      assert.ok(models.length > 0, "it writes a model");
    });

    test(`${file} has fewer than 100 lines`, () => {
      assert.ok(readFileSync(`examples/${file}`, "utf8").trimEnd().split("\n").length < 100);
    });
  }

  test("one that does not know a number of steps says so", async () => {
    const { status, stderr } = await runNode(["examples/pinn.mjs", "--steps", "many"]);
    assert.equal(status, 2);
    assert.match(stderr, /--steps: .*whole number above 0, got "many"/);
  });
});

test("examples/resnet.mjs resumes exactly where it stopped", async () => {
  const train = (file, steps) =>
    numbersOf("loss", "examples/resnet.mjs", "--save", join(folder, file), "--steps", steps);
  const whole = await train("whole", "4");
  await train("parts", "2");
  assert.deepEqual(await train("parts", "4"), whole.slice(2));
});
