// Every function and class of the package and its add-ons has an example in the reference. Making the examples runs them, and writes what they
// print behind their lines.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kElsewhere } from "../../scripts/docs/examples/by_hand.mjs";
import { makeExamples } from "../../scripts/docs/examples/index.mjs";

describe("the examples of the reference", async () => {
  const { examples, missing } = await makeExamples();
  const entries = Object.entries(examples);

  test("are there for every function and class", (t) => {
    assert.deepEqual(missing, []);
    for (const source of ["hand", "elsewhere", "samples", "recipes", "guide"]) {
      const names = entries.filter(([, one]) => one.source === source).map(([name]) => name);
      t.diagnostic(`${source}: ${names.length}, such as ${names.slice(0, 3).join(", ")}`);
      assert.ok(names.length > 0);
    }
  });

  test("are complete programs that print what they say", () => {
    const silent = entries.filter(
      ([, { code, source }]) =>
        !code.includes("import ") || (source === "hand" && !code.includes("// → ")),
    );
    assert.deepEqual(
      silent.map(([name]) => name),
      [],
    );
  });

  test("are not run only where they need a server, a GPU, a page or a model from the web", () => {
    for (const code of Object.values(kElsewhere))
      assert.match(code, /nats:|webgpu|https:|page/, code);
  });
});
