// Elementwise formulas of many floats: every invocation computes four neighboring elements, or several times four.

import type { FormulaShader } from "../../formula_shader";
import { type Access, canBeAccessedTogether, isVec4Aligned } from "../../shader";
import { wordsOf } from "../../words";
import { forEach } from "../invocations";
import type { Index, IterationSpace } from "../strides";
import { product } from "../strides";

/** An operand of a formula. */
export interface Load {
  readonly name: string;
  /** Its memory, which has the name `operand_` and this one. */
  readonly memory: Access;
  readonly index: Index;
  readonly strides: readonly number[];
}

/**
 * How an invocation reads its four elements of an operand: as a vector, as one number for all four, at equal distances, or each at a
 * position of its own.
 */
type Way = "vector" | "same" | "apart" | "each";

/** Fewer elements would not keep a GPU busy, four at a time. */
const kManyElements = 2 ** 14;

/**
 * Vectors of four that an invocation computes where the device computes on the CPU: starting an invocation takes as long there as
 * adding two vectors. A loop would take longer than that, and statements take their time to compile, so the formula must be short.
 */
const kVectors = 4;

/** The parts of a dispatch that differ if it computes four elements at a time. */
export interface InVec4s {
  readonly key: string;
  readonly memory: Access[];
  readonly invocations: number;
  body(): string;
}

/** Returns how to compute four elements at a time, if the layout of the memory permits that; `out` is packed. */
export function inVec4s(
  isSoftware: boolean,
  { values }: FormulaShader,
  { sizes }: IterationSpace,
  out: Access,
  loads: readonly Load[],
): InVec4s | undefined {
  const count = product(sizes);
  if (count < kManyElements || count % 4 !== 0 || !isVec4Aligned(out.view)) return undefined;
  const ways = loads.map((load) => wayOf(load, sizes.at(-1) as number));
  const memory = [
    { ...out, as: "vec4s" } as const,
    ...loads.map(
      ({ memory: own }, i): Access => (ways[i] === "vector" ? { ...own, as: "vec4s" } : own),
    ),
  ];
  if (!canBeAccessedTogether(memory)) return undefined;
  const vectors = isSoftware && count % (4 * kVectors) === 0 && isShort(values) ? kVectors : 1;
  return {
    key: `vec4s ${ways} ${vectors}`,
    memory,
    invocations: count / 4 / vectors,
    body: () => {
      const compute = (at: string) => {
        const texts = loads.map((load, i) => textOf(load, ways[i] as Way, at));
        const value = (part: number) => `value_0(${texts.map(({ element }) => element(part))})`;
        return `${texts.map(({ before }) => before).join("\n  ")}
  store_out(${at}, vec4(${[0, 1, 2, 3].map(value)}));`;
      };
      const each = (k: number) => `{ let at = ${vectors}u * i + ${k}u; ${compute("at")} }`;
      return [
        ...loads.map(({ name, index }) => index.text(`index_${name}`)),
        values,
        forEach(
          vectors === 1
            ? compute("i")
            : Array.from({ length: vectors }, (_, k) => each(k)).join("\n  "),
        ),
      ].join("\n");
    },
  };
}

/** Characters of a short formula, with the words that it calls. */
const kShort = 500;

const lengths = new Map<string, number>();

function isShort(values: string): boolean {
  const length = lengths.get(values) ?? values.length + wordsOf(values).length;
  lengths.set(values, length);
  return length <= kShort;
}

function wayOf({ memory: { view }, index, strides }: Load, last: number): Way {
  if (index.isLinear && isVec4Aligned(view)) return "vector";
  // Otherwise four elements may be in different rows.
  if (last % 4 !== 0) return "each";
  const step = strides.at(-1);
  if (step === 0) return "same";
  const isInVectors =
    isVec4Aligned(view) && strides.slice(0, -1).every((stride) => stride % 4 === 0);
  return step === 1 && isInVectors ? "vector" : "apart";
}

// The statements that read an operand for the vector `at`, and the expression for an element.
function textOf({ name, strides }: Load, way: Way, at: string) {
  const load = (at: string) => `load_operand_${name}(${at})`;
  const first = `index_${name}(4u * ${at})`;
  if (way === "vector")
    return {
      before: `let ${name} = ${load(`${first} / 4u`)};`,
      element: (part: number) => `${name}[${part}]`,
    };
  if (way === "same") return { before: `let ${name} = ${load(first)};`, element: () => name };
  if (way === "each")
    return {
      before: "",
      element: (part: number) => load(`index_${name}(4u * ${at} + ${part}u)`),
    };
  const step = strides.at(-1) === 1 ? "" : ` * u.stride_${name}_${strides.length - 1}`;
  return {
    before: `let first_${name} = ${first};`,
    element: (part: number) => load(`first_${name} + ${part}u${step}`),
  };
}
