// Threads in pages that restrict workers: Trusted Types, and workers that the program constructs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

const kPolicy =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'";

describe("a page that requires Trusted Types", { skip: noBrowser }, () => {
  const suite = useProject();

  async function start(allowed, way) {
    const headers = { ...kIsolation, "Content-Security-Policy": `${kPolicy}; ${allowed}` };
    const { url } = await suite.serve(suite.project.folder, headers);
    return await resultOf(suite.browser, `${url}worker_ways.html?${new URLSearchParams({ way })}`);
  }

  const trained = { threads: 2, grad: 128, warnings: [] };

  test("has threads if it allows the package's policy", async () => {
    for (const allowed of ["trusted-types edgegrad", "trusted-types other edgegrad", ""]) {
      assert.deepEqual(await start(allowed, "the package's"), { ...trained, made: [] });
    }
  });

  test("has threads by its own policies", async () => {
    assert.deepEqual(await start("trusted-types default", "a default policy"), {
      ...trained,
      made: [],
    });
    const { made, ...rest } = await start("trusted-types page", "a policy of the page");
    assert.deepEqual(rest, trained);
    assert.match(made.join(), /^em-pthread-\w+/);
  });

  test("is told of the policy that it does not allow, and has one thread", async () => {
    const { threads, grad, warnings } = await start("trusted-types 'none'", "the package's");
    assert.deepEqual([threads, grad], [1, 128]);
    assert.match(
      warnings.join("\n"),
      /Allow the policy "edgegrad" in the directive trusted-types, or pass createWorker/,
    );
  });

  test("is told what is wrong with its own function", async () => {
    const allowed = "trusted-types edgegrad";
    const { error: thrown } = await start(allowed, "one that throws");
    assert.equal(thrown, "InvalidArgument: [init] createWorker failed: no more workers");
    const { error: none } = await start(allowed, "one that returns nothing");
    assert.match(none, /^InvalidArgument: \[init\] createWorker returned undefined; expected/);
  });
});
