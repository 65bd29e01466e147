// Traces a module or a function and writes it as an ONNX model.

import { keep, nn, runtime, scope, type Tensor, tensor } from "edgegrad";
import { fail } from "../errors.js";
import { OnnxModule, programOf } from "../module.js";
import type { Draft } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import { Call, type Writer } from "./call.js";
import { Exporter, NoForm, noForm } from "./exporter.js";
import { kElementTypes, type Name, valueInfo } from "./graph.js";
import { fileWith, kBuffersKey, tensorsIn } from "./loaded.js";
import { checkConstant, type Merged, merge, resized, sizesToTry } from "./merge.js";
import { kOrder } from "./ops/comparisons.js";
import {
  checkAxes,
  checkNames,
  defaultNames,
  type ReadOptions,
  readOptions,
  type SaveOptions,
} from "./options.js";
import { kComposites, kLeastTypes, kOps } from "./table.js";
import { type Traceable, type Traced, trace } from "./trace.js";
import { leavesOf, type Step, Value, Varying, valuesIn } from "./values.js";

const kWhere = "save";

/** Does what save() says. */
export async function write(
  target: Traceable,
  options: SaveOptions | undefined,
): Promise<Uint8Array> {
  if (!(target instanceof nn.Module) && typeof target !== "function") {
    fail(
      "InvalidArgument",
      kWhere,
      "the first argument must be an nn.Module or a function of tensors.",
    );
  }
  if (target instanceof OnnxModule && options?.inputs === undefined) {
    return savedAgain(target, options);
  }
  return written(target, readOptions(target, options));
}

// Without inputs, the graph of the file stays as it was.
async function savedAgain(
  module: OnnxModule,
  options: SaveOptions | undefined,
): Promise<Uint8Array> {
  const given = Object.entries(options ?? {}).find(([, value]) => value !== undefined);
  if (given !== undefined) {
    const message = `${given[0]}: without inputs a loaded model is written as it was. Give inputs, and it is traced anew.`;
    fail("InvalidArgument", kWhere, message);
  }
  const { file, members } = programOf(module);
  const held = [...tensorsIn(module, members)].map(
    ([name, tensor]) => new Value("parameter", tensor.dtype, tensor.shape, name, tensor.detach()),
  );
  try {
    await bringToCpu(held);
    return fileWith(file, new Map(held.map(({ name, data }) => [name, data as Tensor])));
  } finally {
    for (const { data } of held) data?.dispose();
  }
}

// Runs `fn` with all parts of a module in evaluation or training mode.
function inMode<T>(target: Traceable, training: boolean, fn: () => T): T {
  const parts = target instanceof nn.Module ? target.modules() : [];
  const before = parts.map((part) => part.training);
  for (const part of parts) part.training = training;
  try {
    return fn();
  } finally {
    for (const [i, part] of parts.entries()) part.training = before[i] as boolean;
  }
}

async function written(target: Traceable, options: ReadOptions): Promise<Uint8Array> {
  const held: Value[] = [];
  try {
    const { traced, constants } = inMode(target, options.training, () =>
      scope(() => traceAll(target, options, held)),
    );
    await bringToCpu(held);
    constants.forEach(checkConstant);
    return scope(() => writeTraced(traced, options));
  } finally {
    for (const { data } of held) data?.dispose();
  }
}

// Reads the elements that are on another device, for which a page's main thread cannot wait.
async function bringToCpu(values: readonly Value[]): Promise<void> {
  for (const value of values) {
    const { data, dtype } = value;
    if (data === null || data.device === "cpu") continue;
    value.data = keep(tensor(await data.data(), { dtype, shape: data.shape }));
    data.dispose();
  }
}

function traceAll(target: Traceable, { inputs, axes }: ReadOptions, held: Value[]): Merged {
  const isWhole = (op: string) => Object.hasOwn(kComposites, op);
  const sizes = new Map<string, number>();
  for (const [i, list] of axes.entries()) {
    for (const [dim, name] of list) {
      const size = (inputs[i] as Tensor).shape[dim] as number;
      const known = sizes.get(name);
      if (known !== undefined && known !== size) {
        fail(
          "ShapeMismatch",
          kWhere,
          `dynamicAxes: "${name}" is ${known} in one input and ${size} in another.`,
        );
      }
      sizes.set(name, size);
    }
  }
  const tries = sizesToTry(sizes);
  if (tries.length === 0) return merge([trace(target, inputs, isWhole, held)]);
  let failure: unknown;
  for (const sets of tries) {
    try {
      const traces = sets.map((set) => {
        const given = inputs.map((input, i) => resized(input, axes[i] ?? [], set));
        return trace(target, given, isWhole, held);
      });
      return merge(traces);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function writeTraced(traced: Traced, options: ReadOptions): Uint8Array {
  const exporter = new Exporter(options.opset);
  const { graph } = exporter;
  for (const [i, value] of traced.inputs.entries()) {
    const name = options.inputNames[i] as string;
    checkInput(value, name, traced);
    exporter.define(value, graph.unique(name));
  }
  const problems = new Set<string>();
  for (const step of traced.steps) addStep(exporter, step, problems);
  if (problems.size > 0) refuse([...problems]);
  const results = leavesOf(traced.result);
  return model(exporter, traced, options, results);
}

function checkInput({ dtype }: Value, name: string, { members }: Traced): void {
  if (kElementTypes[dtype] === undefined) {
    fail("DtypeMismatch", kWhere, `inputs: ONNX has no tensors of ${dtype}, which "${name}" is.`);
  }
  if (members.includes(name)) {
    fail(
      "InvalidArgument",
      kWhere,
      `inputNames: "${name}" is the name of a parameter or buffer. Choose another name.`,
    );
  }
}

function addStep(exporter: Exporter, step: Step, problems: Set<string>): void {
  for (const value of step.outputs) exporter.makers.set(value, step);
  if (isUnsized(exporter, step)) for (const value of step.outputs) exporter.unsized.add(value);
  if (isConstant(exporter, step)) {
    for (const value of step.outputs) exporter.fold(value);
    return;
  }
  const writer = writerOf(step);
  exporter.graph.path = step.path;
  const nodes = exporter.graph.nodes.length;
  try {
    if (writer === undefined) throw new NoForm();
    const other = step.outputs.find(({ dtype }) => kElementTypes[dtype] === undefined);
    const given = valuesIn(step)[0]?.dtype ?? "float32";
    const least = kLeastTypes.get(step.op) ?? "bool";
    if (kOrder.indexOf(given) < kOrder.indexOf(least)) noForm(`of ${given}`);
    if (other !== undefined) noForm(`ONNX does not compute with ${other.dtype}`);
    const names = [writer(new Call(exporter, step))].flat() as Name[];
    for (const [i, value] of step.outputs.entries()) exporter.define(value, names[i] as Name);
  } catch (error) {
    if (!(error instanceof NoForm)) throw error;
    exporter.graph.nodes.length = nodes;
    if (step.parts.length > 0) {
      for (const part of step.parts) addStep(exporter, part, problems);
      return;
    }
    const place = step.path === "" ? "" : ` in ${step.path}`;
    problems.add(`${step.op}${place}${error.message === "" ? "" : ` (${error.message})`}`);
    for (const value of step.outputs) exporter.define(value, "missing");
  }
}

// True for a step whose results have sizes that depend on elements.
function isUnsized(exporter: Exporter, { op, values }: Step): boolean {
  const given = leavesOf(values).filter((leaf): leaf is Value => leaf instanceof Value);
  const hasMask = leavesOf(values.indices).some(
    (leaf) => leaf instanceof Value && leaf.dtype === "bool",
  );
  const picks = op === "nonzero" || op === "maskedSelect" || (op === "index" && hasMask);
  return picks || given.some((value) => exporter.unsized.has(value));
}

// True for a step whose results are the same whenever the function is called.
function isConstant(exporter: Exporter, step: Step): boolean {
  if (kRandom.has(step.op) || step.outputs.some((one) => one.data === null)) return false;
  const hasSizes = leavesOf(step.values).some((leaf) => leaf instanceof Varying);
  return !hasSizes && valuesIn(step).every((value) => exporter.isFolded(value));
}

const kRandom: ReadonlySet<string> = new Set(
  "rand randn randint randperm randLike randnLike bernoulli normal multinomial poisson binomial uniform_ normal_".split(
    " ",
  ),
);

function writerOf(step: Step): Writer | undefined {
  // The result of an op in place is that of the op.
  for (const name of [step.op, step.op.replace(/_$/, "")]) {
    for (const table of [kOps, kComposites]) if (Object.hasOwn(table, name)) return table[name];
  }
  return undefined;
}

function refuse(problems: readonly string[]): never {
  const list = problems.map((one) => `  ${one}`).join("\n");
  fail(
    "InvalidArgument",
    kWhere,
    `ONNX has no form of ${problems.length === 1 ? "this call" : "these calls"}:\n${list}\n` +
      "Leave them out of the module that you save, or compute the same by other ops (docs/guide/onnx_export.md lists them).",
  );
}

function model(
  exporter: Exporter,
  traced: Traced,
  options: ReadOptions,
  results: readonly unknown[],
): Uint8Array {
  const { graph } = exporter;
  const values = outputsOf(traced.result, results);
  const names = options.outputNames ?? namesOf(traced.result, values.length);
  checkNames(names, "outputNames", values.length);
  const axes = axesOf(traced, options);
  graph.path = "";
  const renamed = new Map<Name, Name>();
  const used = new Set(traced.inputs.map((value) => exporter.nameOf(value)));
  const outputs = values.map((value, i) => {
    const wanted = graph.unique(names[i] as string);
    if (wanted !== names[i]) {
      fail(
        "InvalidArgument",
        kWhere,
        `outputNames: "${names[i]}" is the name of an input or a parameter.`,
      );
    }
    const isNode =
      !exporter.isStored(value) &&
      !used.has(exporter.nameOf(value)) &&
      !renamed.has(exporter.nameOf(value));
    const source = isNode
      ? exporter.nameOf(value)
      : graph.node("Identity", [exporter.nameOf(value)]);
    renamed.set(source, wanted);
    const sizes = exporter.unsized.has(value) ? null : sizesOf(value, wanted, axes);
    return valueInfo(wanted, value.dtype, sizes);
  });
  checkAxes(options, names);
  const needed = graph.needed([...renamed.keys()]);
  // In the order of the module, whichever is used first.
  needed.initializer.sort(
    (a, b) => traced.members.indexOf(a.name ?? "") - traced.members.indexOf(b.name ?? ""),
  );
  checkSize(needed.initializer);
  const rename = (name: string) => renamed.get(name) ?? name;
  const node = needed.node.map((one) => ({
    ...one,
    input: one.input?.map(rename),
    output: one.output?.map(rename),
  }));
  // ONNX does not tell parameters and buffers apart.
  const buffers = exporter.buffers.length > 0 && {
    [kBuffersKey]: JSON.stringify(exporter.buffers),
  };
  const input = traced.inputs.map((value) => {
    const name = exporter.nameOf(value);
    return valueInfo(name, value.dtype, sizesOf(value, name, axes));
  });
  return writeMessage("Model", {
    irVersion: irVersion(options.opset),
    producerName: "edgegrad",
    producerVersion: runtime().version,
    opsetImport: [{ domain: "", version: options.opset }],
    metadataProps: Object.entries({ ...options.metadata, ...buffers }).map(([key, value]) => ({
      key,
      value,
    })),
    graph: { name: "main", node, initializer: needed.initializer, input, output: outputs },
  });
}

// A message of protobuf may have 2 GiB.
function checkSize(initializers: readonly Draft<"Tensor">[]): void {
  const bytes = initializers.reduce((sum, { rawData }) => sum + (rawData?.length ?? 0), 0);
  if (bytes < kMostBytes) return;
  const message = `the parameters have ${bytes} bytes, and an ONNX file at most 2 GiB. Save parts of the module, or convert it with half().`;
  fail("InvalidArgument", kWhere, message);
}

const kMostBytes = 2 ** 31 - 2 ** 20;

// The version of the file format that came with an opset.
function irVersion(opset: number): number {
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

// The tensors of a result; null stands for one that there is not.
function outputsOf(result: unknown, leaves: readonly unknown[]): Value[] {
  const values = leaves.filter((leaf): leaf is Value => leaf instanceof Value);
  const other = leaves.find(
    (leaf) => !(leaf instanceof Value) && leaf !== null && leaf !== undefined,
  );
  if (values.length === 0 || other !== undefined) {
    fail(
      "InvalidArgument",
      kWhere,
      `the result must be a tensor, or arrays or objects of tensors, got ${typeof (other ?? result)}.`,
    );
  }
  return values;
}

function namesOf(result: unknown, count: number): string[] {
  const isByName =
    typeof result === "object" &&
    result !== null &&
    !Array.isArray(result) &&
    !(result instanceof Value);
  if (!isByName) return defaultNames("output", count);
  return Object.entries(result).flatMap(([name, part]) => {
    const values = leavesOf(part).filter((leaf) => leaf instanceof Value);
    return defaultNames(name, values.length);
  });
}

// Sizes that depend on the inputs have names: that of the axis where it is the same.
function sizesOf(value: Value, name: Name, axes: ReadonlyMap<string, string>): (number | string)[] {
  return value.sizes().map((size, dim) => {
    return size instanceof Varying ? (axes.get(String(size)) ?? `${name}_dim_${dim}`) : size;
  });
}

// The names of the dynamic axes by what their sizes were.
function axesOf({ inputs }: Traced, { axes }: ReadOptions): Map<string, string> {
  const entries = inputs.flatMap((value, i) =>
    (axes[i] ?? []).map(([dim, name]) => [String(value.size(dim)), name] as const),
  );
  return new Map(entries);
}
