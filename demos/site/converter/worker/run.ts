// Runs a model with made-up inputs, and measures the elements of tensors.

import * as eg from "edgegrad";
import { type GraphValue, load, type OnnxModule } from "edgegrad/onnx";
import type { Output, RunOptions, RunResult, Statistics } from "../messages.js";
import { shapeWith } from "../open_sizes.js";
import type { OpenFile } from "./files.js";

/** The largest file of which all values are computed once more, to show their shapes. */
const kMostBytes = 100_000_000;
const kMostElements = 2 ** 28;
const kShown = 12;

/** Runs a model twice; the first time also loads what it needs of the engine. */
export async function runOnce(open: OpenFile, options: RunOptions): Promise<RunResult> {
  const module = open.module as OnnxModule;
  const feeds = eg.scope(() => inputsFor(module, options));
  try {
    const [, first] = await timed(module, feeds);
    const [results, next] = await timed(module, feeds);
    const outputs = await Promise.all(
      module.outputs.map(({ name }) => outputOf(name, results[name])),
    );
    const inputs = Object.entries(feeds).map(([name, x]) => `${name} [${x.shape.join(", ")}]`);
    return { inputs, outputs, first, next, shapes: await shapesIn(open, feeds) };
  } finally {
    disposeAll(feeds);
  }
}

/** Makes up the inputs that a model needs. */
export function inputsFor(module: OnnxModule, options: RunOptions): Record<string, eg.Tensor> {
  const needed = module.inputs.filter(({ isOptional }) => !isOptional);
  return Object.fromEntries(needed.map((input) => [input.name, inputFor(input, options)]));
}

function inputFor(input: GraphValue, { sizes, fill, below }: RunOptions): eg.Tensor {
  const { name, dtype, kind } = input;
  if (dtype === "string" || kind !== "tensor" || !input.hasShape) {
    const what = dtype === "string" ? "texts" : kind !== "tensor" ? `a ${kind}` : "any shape";
    throw new Error(`The input "${name}" takes ${what}, which this page cannot make up.`);
  }
  const shape = shapeWith(input, sizes);
  const count = shape.reduce((product, size) => product * size, 1);
  if (!(count < kMostElements)) {
    throw new Error(`The input "${name}" would have ${count} elements: choose smaller sizes.`);
  }
  if (dtype === "bool") return eg.randint(0, 2, shape).to("bool");
  if (fill === "zeros") return eg.zeros(shape, { dtype });
  const isWhole = fill === "whole" || !/float|complex/.test(dtype);
  if (isWhole) return eg.randint(0, Math.max(below, 1), shape).to(dtype);
  return (fill === "uniform" ? eg.rand(shape) : eg.randn(shape)).to(dtype);
}

type Results = Readonly<Record<string, unknown>>;

async function timed(
  module: OnnxModule,
  feeds: Record<string, eg.Tensor>,
): Promise<[results: Results, ms: number]> {
  const start = performance.now();
  const results: Results = eg.scope(() => eg.noGrad(() => module.run(feeds)));
  const [first] = Object.values(results);
  if (first instanceof eg.Tensor) await first.data();
  return [results, performance.now() - start];
}

async function outputOf(name: string, value: unknown): Promise<Output> {
  if (!(value instanceof eg.Tensor)) {
    const text = JSON.stringify(value, (_, item) => (item instanceof eg.Tensor ? `${item}` : item));
    return { name, dtype: Array.isArray(value) ? "list" : typeof value, shape: [], text };
  }
  const { dtype, shape } = value;
  const flat = eg.scope(() => value.reshape([-1]).narrow(0, 0, Math.min(value.numel, kShown)));
  const numbers = [(await flat.array()) as unknown[]].flat().map(numberText);
  const more = value.numel > kShown ? ", …" : "";
  disposeAll({ flat, value });
  return { name, dtype, shape, text: `[${numbers.join(", ")}${more}]` };
}

function numberText(value: unknown): string {
  return typeof value === "number" && !Number.isInteger(value)
    ? value.toPrecision(4)
    : String(value);
}

// Loads the model once more with all values as outputs. Values that cannot be outputs are shown without shapes.
async function shapesIn(
  { file, beside, description }: OpenFile,
  feeds: Record<string, eg.Tensor>,
): Promise<Record<string, readonly number[]>> {
  if (description === null || file.size > kMostBytes) return {};
  const outputs = description.nodes.map(({ outputs }) => outputs[0] ?? "").filter(Boolean);
  let all: OnnxModule | null = null;
  try {
    all = await load(file, { externalData: beside, outputs, trainable: false });
    const found: [string, readonly number[]][] = eg.scope(() =>
      eg.noGrad(() =>
        Object.entries((all as OnnxModule).run(feeds)).flatMap(([name, value]) =>
          value instanceof eg.Tensor ? [[name, value.shape]] : [],
        ),
      ),
    );
    const given = Object.entries(feeds).map(([name, { shape }]) => [name, shape] as const);
    return Object.fromEntries([...given, ...found]);
  } catch (error) {
    console.info("The shapes of the values inside are not known:", error);
    return {};
  } finally {
    for (const tensor of all?.buffers() ?? []) tensor.dispose();
  }
}

/** Measures the elements of a tensor; NaN are counted and otherwise left out. */
export async function statisticsOf(tensor: eg.Tensor): Promise<Statistics | null> {
  if (tensor.isComplex()) return null;
  const wide = eg.scope(() =>
    tensor.detach().to(tensor.dtype === "float32" ? "float32" : "float64"),
  );
  const data = (await wide.data()) as Float32Array;
  if (wide !== tensor) wide.dispose();
  let [min, max, sum, nans] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (const value of data) {
    if (Number.isNaN(value)) nans++;
    else {
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  const count = data.length - nans;
  return count === 0
    ? { min: Number.NaN, mean: Number.NaN, max: Number.NaN, nans }
    : { min, mean: sum / count, max, nans };
}

function disposeAll(tensors: Readonly<Record<string, eg.Tensor>>): void {
  for (const tensor of Object.values(tensors)) tensor.dispose();
}
