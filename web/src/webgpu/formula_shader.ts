// The shaders of elementwise ops, from the texts that tools/formula_shaders.cpp makes of the C++ formulas.

import table from "../generated/formula_shaders.json";
import { namesIn, wordsOf } from "./words";

/** What a shader computes in: int64 is stored as int32, bool is computed as uint8, in 32 bits of which it uses 8. */
export type ComputeType = "float32" | "int32" | "uint8";

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

/** A shader, but for the memory that it reads and writes. */
export interface FormulaShader {
  /** What is loaded, of a, b, c (the operands), y (the output) and g (the incoming gradient). */
  readonly loads: readonly string[];
  /** Positions in the op's list of constants (src/formulas/constants.h) that are uniforms, `k` and the position. */
  readonly slots: readonly number[];
  /** The number of arrays that are written. */
  readonly stores: number;
  /** The type of what is loaded and of the uniforms. */
  readonly type: "f32" | "i32" | "u32";
  /** Results are bool, not `type`. */
  readonly isBool: boolean;
  /** The shader's text, over functions that `access` declares: see `contiguousAccess`. */
  text(access: string): string;
}

const kTypes = { float32: "f32", int32: "i32", uint8: "u32" } as const;

/** Invocations of a workgroup. */
export const workgroupSize = 256;

/** The value of an op, in one of its forms (src/formulas/forms.h). */
export function forwardShader(op: string, form: number, type: ComputeType): FormulaShader {
  const { forward } = formOf(op, form);
  return shaderOf(op, forward, type, [0], formulas[op]?.isBool === true);
}

/** The gradients of those inputs that are in `wanted`, in float32: one dispatch writes them all. */
export function gradientShader(op: string, form: number, wanted: readonly number[]): FormulaShader {
  const { gradient } = formOf(op, form);
  if (gradient === undefined) throw new Error(`${op} has no gradient`);
  // Inputs without a gradient have no result.
  const places = gradient.reads.map((reads, i) =>
    reads === null ? -1 : gradient.reads.slice(0, i).filter((before) => before !== null).length,
  );
  const results = wanted.map((input) => {
    const place = places[input] ?? -1;
    if (place < 0) throw new Error(`${op} has no gradient of input ${input}`);
    return place;
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
  const results = wanted.map((place) => whole.results[place] as string);
  const lets = neededLets(whole.lets, results);
  const used = namesIn([...lets, ...results].join(" "));
  const loads = ["g", "a", "b", "c", "y"].filter((name) => used.has(name));
  const slots = texts.slots.filter((position) => used.has(`k${position}`));
  const body = [
    ...loads.map((name) => `let ${name} = load_${name}(i);`),
    ...slots.map((position) => `let k${position} = constants.k${position};`),
    ...lets.map((text) => `let ${text};`),
    ...results.map((text, place) => `store_${place}(i, ${text});`),
  ];
  const main = `@compute @workgroup_size(${workgroupSize})
fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = invocation.x + invocation.y * groups.x * ${workgroupSize}u;
  if (i >= count()) {
    return;
  }
  ${body.join("\n  ")}
}
`;
  const words = wordsOf(body.join(" "));
  const text = (access: string) => [access, words, main].join("\n");
  return { loads, slots, stores: results.length, type: kTypes[type], isBool, text };
}

// Of `t0 = ...`, `t1 = ...` those that the results lead to.
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

/**
 * The simplest memory for a shader: every operand is an array as long as the result, one element of 32
 * bits after the other. The bindings of group 0 are what is loaded, what is stored, and with slots the
 * uniforms, in this order. (A bool is stored as 0 or 1.)
 */
export function contiguousAccess({ loads, slots, stores, type, isBool }: FormulaShader): string {
  const stored = isBool ? "u32" : type;
  const result = isBool ? "bool" : type;
  let binding = 0;
  const lines = loads.flatMap((name) => [
    `@group(0) @binding(${binding++}) var<storage, read> array_${name}: array<${type}>;`,
    `fn load_${name}(i: u32) -> ${type} { return array_${name}[i]; }`,
  ]);
  for (let place = 0; place < stores; place++) {
    lines.push(
      `@group(0) @binding(${binding++}) var<storage, read_write> result_${place}: array<${stored}>;`,
      `fn store_${place}(i: u32, value: ${result}) { result_${place}[i] = ${stored}(value); }`,
    );
  }
  if (slots.length > 0) {
    const members = slots.map((position) => `k${position}: ${type}`).join(", ");
    lines.push(
      `struct Constants { ${members} }`,
      `@group(0) @binding(${binding++}) var<uniform> constants: Constants;`,
    );
  }
  lines.push("fn count() -> u32 { return arrayLength(&result_0); }");
  return lines.join("\n");
}
