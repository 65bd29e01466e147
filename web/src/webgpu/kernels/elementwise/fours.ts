// Elementwise formulas of many floats: every invocation computes four neighbouring elements.

import type { FormulaShader } from "../../formula_shader";
import { type Access, canBeAccessedTogether, isFoursAligned } from "../../shader";
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

/** The parts of a dispatch that differ if it computes four elements at a time. */
export interface InFours {
  readonly key: string;
  readonly memory: Access[];
  readonly invocations: number;
  body(): string;
}

/** Returns how to compute four elements at a time, if the layout of the memory permits that; `out` is packed. */
export function inFours(
  { values }: FormulaShader,
  { sizes }: IterationSpace,
  out: Access,
  loads: readonly Load[],
): InFours | undefined {
  const count = product(sizes);
  if (count < kManyElements || count % 4 !== 0 || !isFoursAligned(out.view)) return undefined;
  const ways = loads.map((load) => wayOf(load, sizes.at(-1) as number));
  const memory = [
    { ...out, as: "fours" } as const,
    ...loads.map(
      ({ memory: own }, i): Access => (ways[i] === "vector" ? { ...own, as: "fours" } : own),
    ),
  ];
  if (!canBeAccessedTogether(memory)) return undefined;
  return {
    key: `fours ${ways}`,
    memory,
    invocations: count / 4,
    body: () => {
      const texts = loads.map((load, i) => textOf(load, ways[i] as Way));
      const value = (part: number) => `value_0(${texts.map(({ element }) => element(part))})`;
      return [
        ...loads.map(({ name, index }) => index.text(`index_${name}`)),
        values,
        forEach(`${texts.map(({ before }) => before).join("\n  ")}
  store_out(i, vec4(${[0, 1, 2, 3].map(value)}));`),
      ].join("\n");
    },
  };
}

function wayOf({ memory: { view }, index, strides }: Load, last: number): Way {
  if (index.isLinear && isFoursAligned(view)) return "vector";
  // Otherwise four elements may be in different rows.
  if (last % 4 !== 0) return "each";
  const step = strides.at(-1);
  if (step === 0) return "same";
  const isInVectors = isFoursAligned(view) && strides.slice(0, -1).every((one) => one % 4 === 0);
  return step === 1 && isInVectors ? "vector" : "apart";
}

// The statements that read an operand, and the expression for an element.
function textOf({ name, strides }: Load, way: Way) {
  const load = (at: string) => `load_operand_${name}(${at})`;
  const first = `index_${name}(4u * i)`;
  if (way === "vector")
    return {
      before: `let ${name} = ${load(`${first} / 4u`)};`,
      element: (part: number) => `${name}[${part}]`,
    };
  if (way === "same") return { before: `let ${name} = ${load(first)};`, element: () => name };
  if (way === "each")
    return {
      before: "",
      element: (part: number) => load(`index_${name}(4u * i + ${part}u)`),
    };
  const step = strides.at(-1) === 1 ? "" : ` * u.stride_${name}_${strides.length - 1}`;
  return {
    before: `let first_${name} = ${first};`,
    element: (part: number) => load(`first_${name} + ${part}u${step}`),
  };
}
