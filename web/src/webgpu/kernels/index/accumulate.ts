// Elements that several invocations change at once, whatever their dtype.

import type { DType } from "../../dtype";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands } from "../kernel";

/** What can be added to. */
export const kAddable: readonly DType[] = [
  "float32",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
];

// Whose elements, or their parts, are words, as those are that atomics change.
const kWords: readonly DType[] = ["float32", "int32", "complex64"];

/** Has `accumulate` change `count` elements of a view: where they lie, or as words that are brought back when it is done. */
export function inWords(
  commands: Commands,
  elements: View,
  count: number,
  accumulate: (words: View) => void,
): void {
  if (kWords.includes(elements.dtype)) {
    accumulate(elements);
    return;
  }
  if (count === 0) return;
  const words = commands.scratch(4 * count, "int32");
  copyEach(commands, words, elements, count);
  accumulate(words);
  copyEach(commands, elements, words, count);
}

function copyEach(commands: Commands, to: View, from: View, count: number): void {
  commands.dispatch({
    key: "accumulate copy",
    memory: [
      { name: "to", view: to, mode: "write", as: "i32" },
      { name: "from", view: from, mode: "read", as: "i32" },
    ],
    uniforms: { u32: { count } },
    workgroups: invocations(count),
    body: () => forEach("store_to(i, load_from(i));"),
  });
}
