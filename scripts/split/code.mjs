// Reads the instructions of a module that matter for splitting it.

import { readFileSync, writeFileSync } from "node:fs";
import { withNames } from "../building/function_order.mjs";
import { ModuleReader } from "../building/wasm_module.mjs";
import { quiet } from "../process.mjs";

/** Short names of functions by their indices, which are also the names of exports that a split creates. */
export const shortName = (index) => `$${index.toString(36)}`;

/**
 * Returns for each function of a module the number of its calls to each other function (own indices), and the numbers in its code that may
 * be addresses of data or slots of the table.
 */
export async function codeOf(bytes, wasmDis, scratch) {
  const count = new ModuleReader(bytes).functions.length;
  writeFileSync(
    scratch,
    withNames(
      bytes,
      Array.from({ length: count }, (_, index) => shortName(index)),
    ),
  );
  const text = `${scratch}.wat`;
  await quiet(wasmDis, [scratch, "-o", text]);
  const code = Array.from({ length: count }, () => ({ calls: new Map(), numbers: new Set() }));
  let current = null;
  for (const [, kind, value] of readFileSync(text, "utf8").matchAll(kItem)) {
    if (kind === "\n (func $") {
      current = code[indexOf(value)];
    } else if (kind === "(call $") {
      const callee = indexOf(value);
      if (callee === undefined) continue;
      current.calls.set(callee, (current.calls.get(callee) ?? 0) + 1);
    } else if (current !== null) {
      for (const number of numbersIn(kind, value)) current.numbers.add(number);
    }
  }
  return code;
}

const kItem =
  /(\n \(func \$|\(call \$|\(i32\.const |\(i64\.const |\(v128\.const i32x4 | offset=)([^\s()]+(?: 0x\w+)*)/g;

// Imported functions have other names.
const indexOf = (name) => (name.startsWith("$") ? Number.parseInt(name.slice(1), 36) : undefined);

function numbersIn(kind, value) {
  if (kind.startsWith("(v128")) return value.split(" ").map(Number);
  if (!kind.startsWith("(i64")) return [Number(value)];
  // Two adjacent values may be stored as one.
  const number = BigInt(value);
  return [Number(BigInt.asUintN(32, number)), Number(BigInt.asUintN(32, number >> 32n))];
}
