// The kernels of the engine and those of the player, and the list of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelPage, readKernels, supported } from "./support/kernel_page.mjs";
import { reasonOf } from "./support/on_the_cpu.mjs";

test("every kernel has a sentence, for the list", () => {
  assert.deepEqual(
    readKernels().filter(({ about }) => !about.endsWith(".")),
    [],
  );
});

test("every kernel of the player is one of the engine's", () => {
  const page = kernelPage();
  for (const name of Object.keys(supported)) assert.ok(page.includes(`\n| \`${name}\` |`), name);
});

test("a kernel is either the player's, or the CPU's with a reason", () => {
  for (const { name } of readKernels())
    assert.equal(reasonOf(name) === undefined, name in supported, name);
});
