// docs/kernels.md is up to date.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertSameLines } from "../js/support/assert.mjs";
import { kernelPage, kKernelPage, readKernels, supported } from "./support/kernel_page.mjs";
import { reasonOf } from "./support/on_the_cpu.mjs";

test("docs/kernels.md is what npm run docs writes", () => {
  assertSameLines(readFileSync(kKernelPage, "utf8"), kernelPage());
});

test("every kernel of the player is one of the engine's", () => {
  const page = kernelPage();
  for (const name of Object.keys(supported)) assert.ok(page.includes(`\n| \`${name}\` |`), name);
});

test("a kernel is either the player's, or the CPU's with a reason", () => {
  for (const { name } of readKernels())
    assert.equal(reasonOf(name) === undefined, name in supported, name);
});
