// Elementwise formulas over operands of the same shape.

import type { Elementwise } from "../../../generated/stream";
import { type DType, kStoredDTypes } from "../../dtype";
import { type ElementType, elementType, kWgslTypes, storedText } from "../../element_types";
import {
  type ComputeType,
  type FormulaShader,
  formulas,
  forwardShader,
  gradientShader,
} from "../../formula_shader";
import type { Dispatch } from "../../recorder";
import { withScalars } from "../../scalars";
import type { Access } from "../../shader";
import type { Formula, Operand, View } from "../../stream";
import { forEach, invocations } from "../invocations";
import { type Commands, isWhole, type Kernel } from "../kernel";
import { indexOf, makeIterationSpace, product, sizeUniforms } from "../strides";
import { inWindows } from "../windows";
import { isPacked, packedMain, packedWords } from "./packed";
import { inVec4s, type Load } from "./vec4s";

export const elementwise: Kernel<Elementwise> = {
  supported: { all: kStoredDTypes },

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
    const used = [operands[0] as Operand, ...loaded];
    const { block } = (operands[0] as Operand).view;
    for (const part of inWindows(commands, shape, used, undefined, block)) {
      const [out, ...inputs] = part.operands as [Operand, ...Operand[]];
      run(commands, { key, shader, constants, shape: part.shape, out, loaded: inputs });
    }
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
  const { type } = shader;
  const loads = shader.loads.map(
    (name, i): Load => ({
      name,
      memory: {
        name: `operand_${name}`,
        view: (loaded[i] as Operand).view,
        mode: "read",
        as: type,
      },
      index: indexOf(space, i + 1, name),
      strides: space.strides[i + 1] as readonly number[],
    }),
  );
  const inWords = isPacked(out.view) && outIndex.isLinear;
  const result: ElementType = shader.isBool ? "bool" : type;
  const memory: Access[] = [
    inWords
      ? { name: "words", view: out.view, mode: "write", as: "word" }
      : { name: "out", view: out.view, mode: "write", as: result },
    ...loads.map((load) => load.memory),
  ];
  const uniforms = {
    ...sizeUniforms(space),
    ...outIndex.uniforms,
    ...Object.assign({}, ...loads.map(({ index }) => index.uniforms)),
    count: inWords ? packedWords(out.view.dtype, count) : count,
    ...(inWords ? { elements: count } : {}),
  };
  const own: Record<string, number> = {};
  for (const slot of shader.slots) {
    const constant = constants[slot];
    if (constant === undefined) throw new Error("a constant of the formula is missing");
    own[`k${slot}`] = constant;
  }
  const functions = () =>
    [
      outIndex.text("index_out"),
      ...loads.flatMap(({ name, index }) => [
        index.text(`index_${name}`),
        `fn load_${name}(i: u32) -> ${kWgslTypes[type]} { return load_operand_${name}(index_${name}(i)); }`,
      ]),
      inWords ? packedStore(result, out.view) : directStore(result),
      shader.values,
      shader.evaluate,
    ].join("\n");
  const isOfFloats = type === "f32" && out.view.dtype === "float32";
  const single: Dispatch = {
    key: `elementwise ${key} ${space.sizes.length} ${outIndex.key}${inWords ? "p" : ""} ${loads.map(({ index }) => index.key)}`,
    memory,
    uniforms: withScalars(type, uniforms, own),
    workgroups: invocations(uniforms.count),
    body: () =>
      `${functions()}\n${inWords ? packedMain("words", out.view.dtype, "result_of(element)") : forEach("evaluate(i);")}`,
    ...(isOfFloats && outIndex.isLinear ? { stores: [{ name: "out", count }] } : {}),
    ...(isOfFloats ? { elements: { count, linear: linearOf(loads), memory, functions } } : {}),
  };
  const vec4s =
    isOfFloats && outIndex.isLinear
      ? inVec4s(commands.isSoftware, shader, space, memory[0] as Access, loads)
      : undefined;
  if (vec4s === undefined) {
    commands.dispatch(single);
    return;
  }
  commands.dispatch({
    ...single,
    key: `${single.key} ${vec4s.key}`,
    memory: vec4s.memory,
    uniforms: withScalars(type, { ...uniforms, count: vec4s.invocations }, own),
    workgroups: invocations(vec4s.invocations),
    body: vec4s.body,
  });
}

// The memory of the operands that are floats and packed in the order of the elements.
function linearOf(loads: readonly Load[]): string[] {
  return loads
    .filter(({ index, memory }) => index.isLinear && memory.view.dtype === "float32")
    .map(({ memory }) => memory.name);
}

function directStore(type: ElementType): string {
  return `fn store_0(i: u32, value: ${kWgslTypes[type]}) { store_out(index_out(i), value); }`;
}

// Keeps a result for the word that it becomes a part of.
function packedStore(type: ElementType, { dtype }: View): string {
  const kept = kWgslTypes[elementType(dtype)];
  return `var<private> result: ${kept};
fn store_0(i: u32, value: ${kWgslTypes[type]}) { result = ${storedText("value", type, dtype)}; }
fn result_of(i: u32) -> ${kept} {
  evaluate(i);
  return result;
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
  if (dtype === "int32" || dtype === "int64") return dtype;
  if (dtype === "uint8" || dtype === "bool") return "uint8";
  // The engine requests complex128 for accuracy; complex64 is used for storage only.
  if (dtype === "complex128") return "complex64";
  throw new Error(`formulas are not computed in ${dtype}`);
}
