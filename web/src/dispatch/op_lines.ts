// The lines of generated/op_lines.ts, one per op:
//
//   name:marks input:tensor dim:int=0
//
// The line number is the op's number in the engine. The marks are m: a method of Tensor; f: a method that
// takes the op's first argument and is called on the second; i: has an in-place form; g: takes a
// generator; s: returns several tensors; o: returns one or several. signature.ts parses the rest.

import { kOpLines } from "../generated/op_lines.js";
import { camelCase } from "../runtime/host/spelling.js";
import { type Op, parseSignature } from "./signature.js";

interface OpLine {
  readonly id: number;
  readonly line: string;
}

let lines: ReadonlyMap<string, OpLine> | null = null;

// Read when the first op is called, to save start-up time.
function readLines() {
  const entries = kOpLines.split("\n").map((text, id) => {
    const end = text.indexOf(":");
    return [text.slice(0, end), { id, line: text.slice(end + 1) }] as const;
  });
  return new Map(entries);
}

/** Returns an op by its name in the table, which is in snake_case. */
export function opOf(name: string): Op {
  lines ??= readLines();
  const { id, line } = lines.get(name) as OpLine;
  const [marks = ""] = line.split(" ", 1);
  const returns = marks.includes("s")
    ? "tensors"
    : marks.includes("o")
      ? "tensor_or_tensors"
      : "tensor";
  return parseSignature(camelCase(name), id, line.slice(marks.length), returns);
}

/** Calls `visit` with the name and the marks of every op. */
export function forEachOp(visit: (name: string, marks: string) => void): void {
  for (const [, name = "", marks = ""] of kOpLines.matchAll(/^(\w+):(\w*)/gm)) visit(name, marks);
}
