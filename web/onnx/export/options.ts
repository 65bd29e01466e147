// The options of save().

import { type nn, Tensor } from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { isPlain } from "./values.js";

/** Dynamic axes of one input: the dimension and its name. */
export type DynamicAxes = readonly (readonly [dim: number, name: string])[];

/** Options of `save`. */
export interface SaveOptions {
  /** Tensors to call the module with; their shapes and dtypes are those of the file's inputs. */
  readonly inputs?: readonly Tensor[] | undefined;
  /** The names of the inputs; default "input", "input_1" and so on. */
  readonly inputNames?: readonly string[] | undefined;
  /** The names of the results; default "output", "output_1" and so on, or the names of the properties of a result. */
  readonly outputNames?: readonly string[] | undefined;
  /** The dimensions that may have any size when the file is used, by the name of the input: with their names, or as a list. */
  readonly dynamicAxes?:
    | Readonly<Record<string, Readonly<Record<number, string>> | readonly number[]>>
    | undefined;
  /** The version of the ONNX operators, from 17 to 22; default 20. */
  readonly opset?: number | undefined;
  /** Export the module as it behaves in training; default false, which sets evaluation mode during the export. */
  readonly training?: boolean | undefined;
  /** Strings by name to store in the file. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** The checked options of save(). */
export interface ReadOptions {
  readonly inputs: readonly Tensor[];
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[] | null;
  readonly axes: readonly DynamicAxes[];
  /** The names of the tensors with dynamic axes. */
  readonly axisNames: readonly string[];
  readonly opset: number;
  readonly training: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

const kWhere = "onnx.save";
const kOptions = [
  "inputs",
  "inputNames",
  "outputNames",
  "dynamicAxes",
  "opset",
  "training",
  "metadata",
];
const kOpsets = { least: 17, most: 22, default: 20 };

/** Checks the options of a call. */
export function readOptions(target: unknown, given: unknown): ReadOptions {
  if (given !== undefined && !isPlain(given)) {
    refuse("options", "an object such as { inputs: [eg.zeros([1, 3, 224, 224])] }");
  }
  const options = (given ?? {}) as Record<string, unknown>;
  for (const name of Object.keys(options)) {
    if (kOptions.includes(name)) continue;
    const near = kOptions.find(
      (option) => option.toLowerCase() === name.replaceAll("_", "").toLowerCase(),
    );
    const advice = near === undefined ? `There are ${kOptions.join(", ")}.` : `Write ${near}.`;
    fail("InvalidArgument", kWhere, `there is no option "${name}". ${advice}`);
  }
  const { inputs, opset = kOpsets.default, training = false, metadata = {} } = options;
  if (!Array.isArray(inputs) || !inputs.every((input) => input instanceof Tensor)) {
    const got = Array.isArray(inputs) ? "an array with other values" : describe(inputs);
    refuse("inputs", `an array of tensors to call ${nameOf(target)} with, got ${got}`);
  }
  if (!Number.isInteger(opset) || Number(opset) < kOpsets.least || Number(opset) > kOpsets.most) {
    refuse(
      "opset",
      `one of the versions ${kOpsets.least} to ${kOpsets.most}, got ${describe(opset)}`,
    );
  }
  if (typeof training !== "boolean") refuse("training", "true or false");
  if (!isPlain(metadata) || !Object.values(metadata).every((value) => typeof value === "string")) {
    refuse("metadata", "an object of strings");
  }
  const inputNames =
    namesFrom(options.inputNames, "inputNames", inputs.length) ??
    defaultNames("input", inputs.length);
  return {
    inputs,
    inputNames,
    outputNames: namesFrom(options.outputNames, "outputNames", null),
    axes: readAxes(options.dynamicAxes, inputNames, inputs),
    axisNames: Object.keys(options.dynamicAxes ?? {}),
    opset: Number(opset),
    training,
    metadata: metadata as Record<string, string>,
  };
}

/** Returns `count` names: base, base_1, base_2. */
export function defaultNames(base: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? base : `${base}_${i}`));
}

function namesFrom(given: unknown, option: string, count: number | null): readonly string[] | null {
  if (given === undefined) return null;
  const isNames =
    Array.isArray(given) && given.every((name) => typeof name === "string" && name !== "");
  if (!isNames) refuse(option, "an array of names");
  checkNames(given, option, count);
  return given;
}

/** Throws unless there are `count` names, all different. */
export function checkNames(names: readonly string[], option: string, count: number | null): void {
  if (count !== null && names.length !== count) {
    refuse(option, `${count} names, one for each tensor, got ${names.length}`);
  }
  if (new Set(names).size !== names.length) refuse(option, "different names");
}

/** Throws if dynamic axes are given for a tensor that does not exist. Those of results follow from the inputs, but may be named. */
export function checkAxes(
  { inputNames, axisNames }: ReadOptions,
  outputNames: readonly string[],
): void {
  const names = [...inputNames, ...outputNames];
  const other = axisNames.find((name) => !names.includes(name));
  if (other === undefined) return;
  const message = `dynamicAxes: there is no input or result "${other}"; there are ${names.join(", ")}.`;
  fail("InvalidArgument", kWhere, message);
}

function readAxes(
  given: unknown,
  names: readonly string[],
  inputs: readonly Tensor[],
): DynamicAxes[] {
  const wanted = given ?? {};
  if (!isPlain(wanted)) refuse("dynamicAxes", 'an object such as { input: { 0: "batch" } }');
  return names.map((name, i) => {
    const axes: unknown = Object.hasOwn(wanted, name) ? wanted[name] : [];
    const { ndim } = inputs[i] as Tensor;
    const entries: [number, unknown][] = Array.isArray(axes)
      ? axes.map((dim: unknown) => [Number(dim), `${name}_dim_${dim}`])
      : isPlain(axes)
        ? Object.entries(axes).map(([dim, axis]) => [Number(dim), axis])
        : refuse("dynamicAxes", `for "${name}" { 0: "batch" } or [0]`);
    return entries.map(([dim, axis]) => {
      if (!Number.isInteger(dim) || dim < -ndim || dim >= ndim) {
        refuse("dynamicAxes", `dimensions of "${name}", which has ${ndim}, got ${dim}`);
      }
      if (typeof axis !== "string" || axis === "")
        refuse("dynamicAxes", `a name for dimension ${dim} of "${name}"`);
      return [dim < 0 ? dim + ndim : dim, axis] as const;
    });
  });
}

function refuse(option: string, expected: string): never {
  fail("InvalidArgument", kWhere, `${option}: expected ${expected}.`);
}

function nameOf(target: unknown): string {
  return typeof target === "function"
    ? "the function"
    : `the ${(target as nn.Module).constructor.name}`;
}
