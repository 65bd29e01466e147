// Writes a trace as a file: its graph, inputs and outputs.

import { type Bytes, runtime } from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Draft } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import { kElementTypes } from "./element_types.js";
import { Exporter } from "./exporter.js";
import { type Name, valueInfo } from "./graph.js";
import { kBuffersKey, kParametersKey } from "./kept_file.js";
import { checkAxes, checkNames, defaultNames, type ReadOptions } from "./options.js";
import { addStep, type Problems } from "./steps.js";
import type { Traced } from "./trace.js";
import { leavesOf, Value, Varying } from "./values.js";

const kWhere = "onnx.save";

/** Returns the file of a trace. */
export function writeTraced(traced: Traced, options: ReadOptions): Bytes {
  const exporter = new Exporter(options.opset);
  const { graph } = exporter;
  for (const [i, value] of traced.inputs.entries()) {
    const name = options.inputNames[i] as string;
    checkInput(value, name, traced);
    exporter.define(value, graph.unique(name));
  }
  const problems: Problems = new Map();
  for (const step of traced.steps) addStep(exporter, step, problems);
  return model(exporter, traced, options, problems);
}

function checkDtype({ dtype }: Value, name: string): void {
  if (kElementTypes[dtype] !== undefined) return;
  fail("DtypeMismatch", kWhere, `ONNX has no tensors of ${dtype}, which "${name}" is.`);
}

function checkInput(value: Value, name: string, { members }: Traced): void {
  checkDtype(value, name);
  if (members.includes(name)) {
    fail(
      "InvalidArgument",
      kWhere,
      `inputNames: "${name}" is the name of a parameter or buffer. Choose another name.`,
    );
  }
}

function model(
  exporter: Exporter,
  traced: Traced,
  options: ReadOptions,
  problems: Problems,
): Bytes {
  const { graph } = exporter;
  const values = outputsOf(traced.result);
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
    if (exporter.isStored(value)) checkDtype(value, wanted);
    const isNode =
      !exporter.isStored(value) &&
      !used.has(exporter.nameOf(value)) &&
      !renamed.has(exporter.nameOf(value));
    const source = isNode
      ? exporter.nameOf(value)
      : graph.node("Identity", [exporter.nameOf(value)]);
    renamed.set(source, wanted);
    const isUnsized = exporter.unsized.has(value);
    const sizes = isUnsized ? value.shape.map(() => null) : sizesOf(value, wanted, axes);
    return valueInfo(wanted, value.dtype, sizes);
  });
  checkAxes(options, names);
  const needed = graph.needed([...renamed.keys()]);
  // In the order of the module, not in the order of use.
  needed.initializer.sort(
    (a, b) => traced.members.indexOf(a.name ?? "") - traced.members.indexOf(b.name ?? ""),
  );
  checkProblems(needed.node, problems);
  checkSize(needed.initializer);
  const rename = (name: string) => renamed.get(name) ?? name;
  const node = needed.node.map((message) => ({
    ...message,
    input: message.input?.map(rename),
    output: message.output?.map(rename),
  }));
  // ONNX does not tell parameters, buffers and constants apart.
  const kinds = {
    [kParametersKey]: JSON.stringify(exporter.parameters),
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
    metadataProps: Object.entries({ ...options.metadata, ...kinds }).map(([key, value]) => ({
      key,
      value,
    })),
    graph: { name: "main", node, initializer: needed.initializer, input, output: outputs },
  });
}

// Protobuf limits a message to 2 GiB.
function checkSize(initializers: readonly Draft<"Tensor">[]): void {
  const bytes = initializers.reduce((sum, { rawData }) => sum + (rawData?.length ?? 0), 0);
  if (bytes < kMostBytes) return;
  const message = `the parameters have ${bytes} bytes, and an ONNX file at most 2 GiB. Save parts of the module, or convert it with half().`;
  fail("InvalidArgument", kWhere, message);
}

const kMostBytes = 2 ** 31 - 2 ** 20;

// The version of the file format that was introduced with an opset.
function irVersion(opset: number): number {
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

// The tensors of a result, without the nulls in it.
function outputsOf(result: unknown): Value[] {
  const leaves = leavesOf(result);
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

// Sizes that depend on the inputs have names; a size that equals a dynamic axis has the name of the axis.
function sizesOf(value: Value, name: Name, axes: ReadonlyMap<string, string>): (number | string)[] {
  return value.sizes().map((size, dim) => {
    return size instanceof Varying ? (axes.get(String(size)) ?? `${name}_dim_${dim}`) : size;
  });
}

// The names of the dynamic axes by their sizes in the traces.
function axesOf({ inputs }: Traced, { axes }: ReadOptions): Map<string, string> {
  const entries = inputs.flatMap((value, i) =>
    (axes[i] ?? []).map(([dim, name]) => [String(value.size(dim)), name] as const),
  );
  return new Map(entries);
}
function checkProblems(nodes: readonly Draft<"Node">[], known: Problems): void {
  const problems = new Set(nodes.flatMap(({ output }) => known.get(output?.[0] ?? "") ?? []));
  if (problems.size === 0) return;
  const list = [...problems].map((problem) => `  ${problem}`).join("\n");
  fail(
    "InvalidArgument",
    kWhere,
    `ONNX has no form of ${problems.size === 1 ? "this call" : "these calls"}:\n${list}\n` +
      "Leave them out of the module that you save, or compute the same by other ops (docs/guide/onnx_export.md lists them).",
  );
}
