// The shipped files actually contain SIMD code, so the compiler options had their effect.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

// The encoded instructions: prefix fd, then the opcode as LEB128.
const kMultiply = Buffer.from([0xfd, 0xe6, 0x01]); // f32x4.mul
const kRelaxedMultiplyAdd = Buffer.from([0xfd, 0x85, 0x02]); // f32x4.relaxed_madd

function moduleOf(variant) {
  const url = new URL(`../../../dist/wasm/edgegrad-${variant}.wasm`, import.meta.url);
  return readFileSync(fileURLToPath(url));
}

function count(variant, instruction) {
  const code = moduleOf(variant);
  let found = 0;
  for (let at = code.indexOf(instruction); at >= 0; at = code.indexOf(instruction, at + 1)) found++;
  return found;
}

for (const variant of ["relaxed", "simd", "single"]) {
  test(`${variant}: kernels multiply four floats at a time`, () => {
    assert.ok(count(variant, kMultiply) > 200);
  });
}

test("relaxed: the matrix kernel fuses multiplication and addition", () => {
  assert.ok(count("relaxed", kRelaxedMultiplyAdd) > 12);
});

const hasRelaxedSimd = WebAssembly.validate(moduleOf("relaxed"));
const skip = hasRelaxedSimd && "this JavaScript engine accepts relaxed SIMD everywhere";

test("only that build needs an engine with relaxed SIMD", { skip }, () => {
  for (const variant of ["simd", "single"]) assert.ok(WebAssembly.validate(moduleOf(variant)));
});
