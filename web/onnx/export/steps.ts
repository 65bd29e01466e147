// Writes steps as nodes. Constant steps are omitted, and steps that ONNX cannot express are collected.

import { Call, type Writer } from "./call.js";
import { kElementTypes } from "./element_types.js";
import { type Exporter, NoForm, noForm } from "./exporter.js";
import type { Name } from "./graph.js";
import { kOrder } from "./ops/comparisons.js";
import { kComposites, kLeastTypes, kOps } from "./table.js";
import { leavesOf, type Step, Value, Varying, valuesIn } from "./values.js";

/** The steps that ONNX cannot express: descriptions by the names of their results. */
export type Problems = Map<Name, string>;

/** Writes a step. One that ONNX cannot express becomes a placeholder node, and a problem if a result needs it. */
export function addStep(exporter: Exporter, step: Step, problems: Problems): void {
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
    const reason = error.message === "" ? "" : ` (${error.message})`;
    const inputs = valuesIn(step).filter((value) => exporter.isWritten(value));
    const names = exporter.graph.outputs(
      step.op,
      inputs.map((value) => exporter.nameOf(value)),
      {},
      step.outputs.length,
    );
    problems.set(names[0] as Name, `${step.op}${place}${reason}`);
    for (const [i, value] of step.outputs.entries()) exporter.define(value, names[i] as Name);
  }
}

// True for a step whose results have data-dependent sizes.
function isUnsized(exporter: Exporter, { op, values }: Step): boolean {
  const given = leavesOf(values).filter((leaf): leaf is Value => leaf instanceof Value);
  const hasMask = leavesOf(values.indices).some(
    (leaf) => leaf instanceof Value && leaf.dtype === "bool",
  );
  const picks =
    op === "nonzero" || op === "maskedSelect" || op === "unique" || (op === "index" && hasMask);
  return picks || given.some((value) => exporter.unsized.has(value));
}

// True for a step whose results are the same in every call of the function.
function isConstant(exporter: Exporter, step: Step): boolean {
  if (kRandom.has(step.op) || step.outputs.some((output) => output.data === null)) return false;
  const hasSizes = leavesOf(step.values).some((leaf) => leaf instanceof Varying);
  return !hasSizes && valuesIn(step).every((value) => exporter.isFolded(value));
}

const kRandom: ReadonlySet<string> = new Set(
  "rand randn randint randperm randLike randnLike bernoulli normal multinomial poisson binomial uniform_ normal_".split(
    " ",
  ),
);

function writerOf(step: Step): Writer | undefined {
  // An in-place op is written as the op itself.
  for (const name of [step.op, step.op.replace(/_$/, "")]) {
    for (const table of [kOps, kComposites]) if (Object.hasOwn(table, name)) return table[name];
  }
  return undefined;
}
