// The shaders of elementwise ops, built from the WGSL that tools/formula_shaders.cpp generates from the C++ formulas.

import table from "../generated/formula_shaders.json";
import { kWgslTypes } from "./element_types";
import { namesIn } from "./words";

/**
 * The type in which a shader computes. bool is computed as uint8, which uses 8 of 32 bits. Complex formulas have no gradients here,
 * because those are composed of ops.
 */
export type ComputeType = "float32" | "int32" | "int64" | "uint8" | "complex64";

interface Text {
  readonly lets: readonly string[];
  readonly results: readonly string[];
}

interface Texts extends Partial<Record<ComputeType, Text>> {
  readonly slots: readonly number[];
}

interface Form {
  readonly forward: Texts;
  readonly gradient?: Texts & { readonly reads: readonly (string | null)[] };
}

interface Formula {
  readonly operands: number;
  readonly isBool: boolean;
  readonly forms: readonly Form[];
}

/** Every formula, by the name of its op. */
export const formulas = table as unknown as Readonly<Record<string, Formula>>;

/** A shader, except for the code that accesses memory. */
export interface FormulaShader {
  /** The names that are loaded, out of a, b, c (the operands), y (the output) and g (the incoming gradient). */
  readonly loads: readonly string[];
  /** The positions in the op's list of constants (src/formulas/constants.h) that are uniforms, named `k` and the position. */
  readonly slots: readonly number[];
  /** The number of results. */
  readonly stores: number;
  /** The type of the loaded values and of the uniforms; the uniforms of a complex formula are f32. */
  readonly type: "f32" | "i32" | "i64" | "u32" | "complex";
  /** Whether the results are bool instead of `type`. */
  readonly isBool: boolean;
  /** The WGSL of functions `value_0` etc., which compute the results from the loaded values. The constants are members of `u`. */
  readonly values: string;
  /** The WGSL of a function `evaluate(i)` for one element, which calls `load_a(i)` etc., `value_0` and `store_0(i, value)` etc. */
  readonly evaluate: string;
}

const kTypes = {
  float32: "f32",
  int32: "i32",
  int64: "i64",
  uint8: "u32",
  complex64: "complex",
} as const;

/** Returns the shader for the value of an op, in one of its forms (src/formulas/forms.h). */
export function forwardShader(op: string, form: number, type: ComputeType): FormulaShader {
  const { forward } = formOf(op, form);
  return shaderOf(op, forward, type, [0], formulas[op]?.isBool === true);
}

/** Returns the float32 shader for the gradients of the inputs in `wanted`; one dispatch computes all of them. */
export function gradientShader(op: string, form: number, wanted: readonly number[]): FormulaShader {
  const { gradient } = formOf(op, form);
  if (gradient === undefined) throw new Error(`${op} has no gradient`);
  // The index of each input's result, or -1 for inputs without a gradient.
  const outputs = gradient.reads.map((reads, i) =>
    reads === null ? -1 : gradient.reads.slice(0, i).filter((before) => before !== null).length,
  );
  const results = wanted.map((input) => {
    const output = outputs[input] ?? -1;
    if (output < 0) throw new Error(`${op} has no gradient of input ${input}`);
    return output;
  });
  return shaderOf(op, gradient, "float32", results, false);
}

function formOf(op: string, form: number): Form {
  const found = formulas[op]?.forms[form];
  if (found === undefined) throw new Error(`${op} has no form ${form}`);
  return found;
}

function shaderOf(
  op: string,
  texts: Texts,
  type: ComputeType,
  wanted: readonly number[],
  isBool: boolean,
): FormulaShader {
  const whole = texts[type];
  if (whole === undefined) throw new Error(`${op} has no shader for ${type}`);
  const results = wanted.map((output) => whole.results[output] as string);
  const used = namesIn([...neededLets(whole.lets, results), ...results].join(" "));
  const loads = ["g", "a", "b", "c", "y"].filter((name) => used.has(name));
  const slots = texts.slots.filter((position) => used.has(`k${position}`));
  const wgsl = kWgslTypes[kTypes[type]];
  const values = results.map((result, output) => {
    const lines = [
      ...slots.map((position) => `let k${position} = u.k${position};`),
      ...neededLets(whole.lets, [result]).map((text) => `let ${text};`),
      `return ${result};`,
    ];
    return `fn value_${output}(${loads.map((name) => `${name}: ${wgsl}`)}) -> ${isBool ? "bool" : wgsl} {
  ${lines.join("\n  ")}
}
`;
  });
  const loaded = loads.map((name) => `load_${name}(i)`);
  const evaluate = `fn evaluate(i: u32) {
  ${results.map((_, output) => `store_${output}(i, value_${output}(${loaded}));`).join("\n  ")}
}
`;
  const stores = results.length;
  return { loads, slots, stores, type: kTypes[type], isBool, values: values.join(""), evaluate };
}

// Selects the assignments `t0 = ...`, `t1 = ...` on which the results depend.
function neededLets(lets: readonly string[], results: readonly string[]): string[] {
  const used = namesIn(results.join(" "));
  const needed: string[] = [];
  for (const text of [...lets].reverse()) {
    const [name, value] = text.split(" = ", 2) as [string, string];
    if (!used.has(name)) continue;
    needed.unshift(text);
    for (const other of namesIn(value)) used.add(other);
  }
  return needed;
}
