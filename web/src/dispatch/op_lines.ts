// The lines of generated/op_lines.ts, one op each:
//
//   name:marks input:tensor dim:int=0
//
// The number of a line is that of the op in the engine. Marks are m: a method of Tensor; i: there is an in-place form
// too; g: takes a generator; s: returns several tensors; o: one or several. The rest is what signature.ts reads.

import { kOpLines } from "../generated/op_lines.js";
import { type Op, parseSignature } from "./signature.js";

interface OpLine {
  readonly id: number;
  readonly line: string;
}

let lines: ReadonlyMap<string, OpLine> | null = null;

// Made when the first op is called: starting does not pay for it.
function readLines() {
  const entries = kOpLines.split("\n").map((text, id) => {
    const end = text.indexOf(":");
    return [text.slice(0, end), { id, line: text.slice(end + 1) }] as const;
  });
  return new Map(entries);
}

/** Returns an op of the table by its name there. */
export function opOf(name: string): Op {
  lines ??= readLines();
  const { id, line } = lines.get(name) as OpLine;
  const [marks = ""] = line.split(" ", 1);
  const returns = marks.includes("s")
    ? "tensors"
    : marks.includes("o")
      ? "tensor_or_tensors"
      : "tensor";
  return parseSignature(name, id, line.slice(marks.length), returns);
}

/** Calls `visit` with the name and the marks of every op. */
export function forEachOp(visit: (name: string, marks: string) => void): void {
  for (const [, name = "", marks = ""] of kOpLines.matchAll(/^(\w+):(\w*)/gm)) visit(name, marks);
}
