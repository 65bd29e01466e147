// The page of kernels.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kernelPage, kKernelPage, supported } from "./support/kernel_page.mjs";

test("docs/kernels.md is what npm run docs writes", () => {
  assert.equal(readFileSync(kKernelPage, "utf8"), kernelPage());
});

test("every kernel of the player is one of the engine's", () => {
  const page = kernelPage();
  for (const name of Object.keys(supported)) assert.ok(page.includes(`\n| \`${name}\` |`), name);
  assert.ok(page.includes("\n| `eigh` | `decompositions.h` | – |"));
});
