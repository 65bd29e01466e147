// Elements of any dtype that several invocations change concurrently.

import type { DType } from "../../dtype";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands } from "../kernel";

/** The dtypes that can be accumulated. */
export const kAddable: readonly DType[] = [
  "float32",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
];

// The dtypes whose elements, or their parts, are 32-bit words, which atomics can change in place.
const kWords: readonly DType[] = ["float32", "int32", "int64", "complex64"];

/** Calls `accumulate` to change `count` elements of a view: in place, or in a copy as words that is copied back afterwards. */
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
