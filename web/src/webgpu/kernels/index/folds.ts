// Folding all elements with the same target into it, for operations that no atomic supports, including complex numbers and NaN.
//
// Elements are first linked into one list per target, with one atomic each; then one invocation folds each list.

import type { ExtremeElements, MultiplyElements } from "../../../generated/stream";
import { kAnyDType, kRealDTypes } from "../../dtype";
import { type ElementType, elementType, kWgslTypes } from "../../element_types";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { partsOf } from "./elements";

/** Returns the WGSL expression for the fold of `a` and `b`. */
type FoldText = (type: ElementType) => string;

const multiplied: FoldText = (type) =>
  type === "complex" ? "mul_c64(a, b)" : type === "i64" ? "mul_i64(a, b)" : "a * b";

const kSuffixes: Readonly<Partial<Record<ElementType, string>>> = {
  f32: "f32",
  i32: "i32",
  i64: "i64",
  u32: "u8",
};

const extreme =
  (largest: boolean): FoldText =>
  (type) =>
    `${largest ? "maximum" : "minimum"}_${kSuffixes[type]}(a, b)`;

export const multiplyElements: Kernel<MultiplyElements> = {
  supported: { views: [["int64"], kAnyDType, kAnyDType] },
  play: (call, commands) => foldElements(call, commands, "multiply", multiplied),
};

export const extremeElements: Kernel<ExtremeElements> = {
  supported: { views: [["int64"], kRealDTypes, kRealDTypes] },

  play({ largest, ...call }, commands): void {
    foldElements(call, commands, largest ? "largest" : "smallest", extreme(largest));
  },
};

function foldElements(
  { selection, packed, indexed }: MultiplyElements,
  commands: Commands,
  what: string,
  text: FoldText,
): void {
  const { key, count, limit, memory, uniforms, functions } = partsOf(selection, indexed);
  if (count === 0) return;
  // Linked lists of elements, numbered from 1: the first of each target, and the next of each element; 0 ends a list.
  const first = commands.scratch(4 * limit, "int32");
  const next = commands.scratch(4 * count, "int32");
  commands.clear(first);
  commands.dispatch({
    key: `fold_elements lists ${key}`,
    memory: [
      ...memory,
      { name: "first", view: first, mode: "atomic" },
      { name: "next", view: next, mode: "write" },
    ],
    uniforms: { u32: { ...uniforms, count } },
    workgroups: invocations(count),
    body: () =>
      functions +
      forEach(`let place = place_of(i);
  if (place < u.limit) {
    store_next(i, exchange_first(place, i32(i + 1u)));
  }`),
  });
  const type = elementType(indexed.dtype);
  commands.dispatch({
    key: `fold_elements ${what}`,
    memory: [
      { name: "first", view: first, mode: "read" },
      { name: "next", view: next, mode: "read" },
      { name: "packed", view: packed, mode: "read" },
      { name: "indexed", view: indexed, mode: "write" },
    ],
    uniforms: { u32: { count: limit } },
    workgroups: invocations(limit),
    body: () =>
      `fn fold(a: ${kWgslTypes[type]}, b: ${kWgslTypes[type]}) -> ${kWgslTypes[type]} { return ${text(type)}; }
` +
      forEach(`var at = load_first(i);
  if (at == 0) {
    return;
  }
  var value = load_indexed(i);
  loop {
    value = fold(value, load_packed(u32(at - 1)));
    at = load_next(u32(at - 1));
    if (at == 0) {
      break;
    }
  }
  store_indexed(i, value);`),
  });
}
