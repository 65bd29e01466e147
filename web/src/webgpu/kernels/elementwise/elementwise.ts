// Elementwise formulas over operands of the same shape.

import type { Elementwise } from "../../../generated/stream";
import { type DType, itemSize } from "../../dtype";
import {
  type ComputeType,
  type FormulaShader,
  formulas,
  forwardShader,
  gradientShader,
} from "../../formula_shader";
import { type Access, type ElementType, kWgslTypes } from "../../shader";
import type { Formula, Operand, View } from "../../stream";
import { forEach, invocations } from "../invocations";
import { type Commands, isWhole, type Kernel } from "../kernel";
import { indexOf, makeIterationSpace, product, sizeUniforms } from "../strides";
import { packedMain } from "./packed";

export const elementwise: Kernel<Elementwise> = {
  supported: { all: ["float32", "int32", "int64", "uint8", "bool", "complex64"] },

  // The formula determines whether the result is bool, so `result` is not needed.
  play({ formula, compute, shape, operands }, commands): void {
    const { op, gradientOf, constants } = formula;
    const { key, shader } = shaderFor(formula, compute);
    const isGradient = gradientOf >= 0;
    const names = isGradient ? gradientOperands(op) : ["a", "b", "c"];
    const loaded = shader.loads.map((name) => {
      const operand = operands[1 + names.indexOf(name)];
      if (operand === undefined) throw new Error(`${op} lacks operand ${name}`);
      return operand;
    });
    run(commands, { key, shader, constants, shape, out: operands[0] as Operand, loaded });
  },

  overwrites: ({ shape, operands }) => isWhole((operands[0] as Operand).view, product(shape)),
};

interface Call {
  readonly key: string;
  readonly shader: FormulaShader;
  readonly constants: readonly number[];
  readonly shape: readonly number[];
  readonly out: Operand;
  /** In the order of the shader's loads. */
  readonly loaded: readonly Operand[];
}

function run(commands: Commands, { key, shader, constants, shape, out, loaded }: Call): void {
  const space = makeIterationSpace(shape, [out.strides, ...loaded.map(({ strides }) => strides)]);
  const count = product(space.sizes);
  if (count === 0) return;
  const outIndex = indexOf(space, 0, "out");
  const loads = shader.loads.map((name, i) => ({ name, index: indexOf(space, i + 1, name) }));
  const isPacked = itemSize(out.view.dtype) === 1 && outIndex.isLinear && out.view.offset % 4 === 0;
  const type: ElementType = shader.type;
  const stored: ElementType = shader.isBool ? "bool" : type;
  const memory: Access[] = [
    isPacked
      ? { name: "words", view: out.view, mode: "write", as: "word" }
      : { name: "out", view: out.view, mode: "write", as: stored },
    ...loads.map(
      ({ name }, i): Access => ({
        name: `operand_${name}`,
        view: (loaded[i] as Operand).view,
        mode: "read",
        as: type,
      }),
    ),
  ];
  const uniforms = {
    ...sizeUniforms(space),
    ...outIndex.uniforms,
    ...Object.assign({}, ...loads.map(({ index }) => index.uniforms)),
    count: isPacked ? Math.ceil(count / 4) : count,
    ...(isPacked ? { elements: count } : {}),
  };
  const own: Record<string, number> = {};
  for (const slot of shader.slots) own[`k${slot}`] = limit(constants[slot], type);
  commands.dispatch({
    key: `elementwise ${key} ${space.sizes.length} ${outIndex.key}${isPacked ? "p" : ""} ${loads.map(({ index }) => index.key)}`,
    memory,
    uniforms:
      type === "u32" ? { u32: { ...uniforms, ...own } } : { u32: uniforms, [scalarOf(type)]: own },
    workgroups: invocations(uniforms.count),
    body: () =>
      [
        outIndex.text("index_out"),
        ...loads.flatMap(({ name, index }) => [
          index.text(`index_${name}`),
          `fn load_${name}(i: u32) -> ${kWgslTypes[type]} { return load_operand_${name}(index_${name}(i)); }`,
        ]),
        isPacked ? packedStore(stored, out.view) : directStore(stored),
        shader.evaluate,
        isPacked ? packedMain("words", "byte_of(element)") : forEach("evaluate(i);"),
      ].join("\n"),
  });
}

function directStore(type: ElementType): string {
  return `fn store_0(i: u32, value: ${kWgslTypes[type]}) { store_out(index_out(i), value); }`;
}

// Stores a result that becomes one byte; complex results never do.
function packedStore(type: ElementType, { dtype }: View): string {
  const isTruth = dtype === "bool" && type !== "bool";
  const truth = type === "f32" ? "differ_f32(value, 0f)" : `(value != ${type}(0))`;
  const byte = isTruth ? `u32(${truth})` : type === "f32" ? "u32(int_of_f32(value))" : "u32(value)";
  return `var<private> byte: u32;
fn store_0(i: u32, value: ${type}) { byte = ${byte}; }
fn byte_of(i: u32) -> u32 {
  evaluate(i);
  return byte;
}`;
}

/** Returns the operands of a gradient formula in order: the gradient, the op's operands, the output. */
function gradientOperands(op: string): string[] {
  return ["g", ...["a", "b", "c"].slice(0, formulas[op]?.operands ?? 0), "y"];
}

interface Keyed {
  readonly key: string;
  readonly shader: FormulaShader;
}

const known = new Map<string, Keyed>();

function shaderFor({ op, form, gradientOf }: Formula, compute: DType): Keyed {
  const type = computeType(compute);
  const key = `${op} ${form} ${gradientOf} ${type}`;
  let found = known.get(key);
  if (found === undefined) {
    const shader =
      gradientOf < 0 ? forwardShader(op, form, type) : gradientShader(op, form, [gradientOf]);
    found = { key, shader };
    known.set(key, found);
  }
  return found;
}

function computeType(dtype: DType): ComputeType {
  if (dtype === "float32") return "float32";
  if (dtype === "int32" || dtype === "int64") return "int32";
  if (dtype === "uint8" || dtype === "bool") return "uint8";
  // The engine requests complex128 for accuracy; complex64 is used for storage only.
  if (dtype === "complex128") return "complex64";
  throw new Error(`formulas are not computed in ${dtype}`);
}

// The type of a formula's uniforms.
function scalarOf(type: FormulaShader["type"]): "f32" | "i32" | "u32" {
  return type === "complex" ? "f32" : type;
}

const kLargestFloat = 3.4028234663852886e38;

const kLimits: Readonly<Record<FormulaShader["type"], readonly [number, number]>> = {
  f32: [-kLargestFloat, kLargestFloat],
  complex: [-kLargestFloat, kLargestFloat],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 255],
};

// Clamps a double to the range of the shader's type. Only floats can be infinite.
function limit(value: number | undefined, type: FormulaShader["type"]): number {
  if (value === undefined) throw new Error("a constant of the formula is missing");
  if (scalarOf(type) === "f32" && !Number.isFinite(value)) return value;
  const [low, high] = kLimits[type];
  return Math.min(Math.max(value, low), high);
}
