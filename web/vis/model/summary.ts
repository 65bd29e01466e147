// summary(): the layers of a module with their inputs, outputs, parameters and multiply-adds.

import { type Device, type DType, type nn, Tensor, zeros } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { checkModule, followEvaluation, tensorsIn } from "./follow.js";
import { multiplyAddsOf } from "./multiply_adds.js";
import type { SummaryRow, SummaryTotals } from "./summary_row.js";
import { summaryText } from "./summary_text.js";

/** Options of `summary`. */
export interface SummaryOptions {
  /** The dtype of inputs that are given by their sizes; default "float32". Models of tokens need "int64". */
  dtype?: DType;
  /** The device of these inputs; default: that of the parameters. */
  device?: Device;
}

/** The inputs of a call: the size of one, the sizes of several, or tensors. */
export type InputSize =
  | readonly number[]
  | readonly (readonly number[])[]
  | Tensor
  | readonly Tensor[];

/** The layers of a module. `String(summary)` is a table. */
export class ModuleSummary implements SummaryTotals {
  /** @internal */
  constructor(
    /** The modules, each before its submodules. */
    readonly rows: readonly SummaryRow[],
    /** The bytes of the inputs. */
    readonly inputBytes: number,
    /** The bytes of the outputs of modules without submodules: about what training keeps for backward. */
    readonly outputBytes: number,
  ) {}

  /** The number of elements of all parameters. */
  get parameters(): number {
    return this.#whole.parameters;
  }

  /** The number of elements of parameters that require gradients. */
  get trainable(): number {
    return this.#whole.trainable;
  }

  /** The number of multiply-adds in matrix products and convolutions. */
  get multiplyAdds(): number {
    return this.#whole.multiplyAdds;
  }

  /** The bytes of parameters and buffers. */
  get bytes(): number {
    return this.#whole.bytes;
  }

  /** Returns a table. */
  toString(): string {
    return summaryText(this);
  }

  get #whole(): SummaryRow {
    return this.rows[0] as SummaryRow;
  }
}

/**
 * Calls a module once, in evaluation mode and without gradients, and returns a summary of its submodules. `inputSize` is the shape of the
 * input including the batch, such as [1, 3, 32, 32], a list of shapes, or the inputs themselves. A submodule that is used in several places
 * has one row.
 */
export function summary(
  module: nn.Module,
  inputSize: InputSize,
  options: SummaryOptions = {},
): ModuleSummary {
  checkModule("summary", module);
  const calls = new Map<nn.Module, Call>();
  const running: Call[] = [];
  let outputBytes = 0;
  const inputs = inputsOf(module, inputSize, options);
  const inputBytes = bytesOf(inputs);
  try {
    followEvaluation(module, inputs, {
      enter: (_, part, given) => {
        const call = calls.get(part) ?? { count: 0, inputs: [], outputs: [], multiplyAdds: 0 };
        calls.set(part, call);
        call.count++;
        call.inputs = shapesOf(given);
        running.push(call);
      },
      leave: (_, part, output) => {
        const call = running.pop() as Call;
        call.outputs = shapesOf(output);
        if (part.children().length === 0) outputBytes += bytesOf(tensorsIn(output));
      },
      op: (_, call, [result]) => {
        const count = result === undefined ? 0 : multiplyAddsOf(call, result);
        for (const around of new Set(running)) around.multiplyAdds += count;
      },
    });
  } finally {
    const given = new Set<unknown>([inputSize].flat());
    for (const input of inputs) if (!given.has(input)) input.dispose();
  }
  const rows = module.namedModules().map(([path, part]) => rowOf(path, part, calls.get(part)));
  return new ModuleSummary(rows, inputBytes, outputBytes);
}

interface Call {
  count: number;
  inputs: number[][];
  outputs: number[][];
  multiplyAdds: number;
}

function rowOf(path: string, module: nn.Module, call: Call | undefined): SummaryRow {
  const parameters = module.parameters();
  const trainable = parameters.filter(({ requiresGrad }) => requiresGrad);
  return {
    path,
    type: module.constructor.name,
    depth: path === "" ? 0 : path.split(".").length,
    calls: call?.count ?? 0,
    inputShapes: call?.inputs ?? [],
    outputShapes: call?.outputs ?? [],
    parameters: elementsOf(parameters),
    trainable: elementsOf(trainable),
    multiplyAdds: call?.multiplyAdds ?? 0,
    bytes: bytesOf([...parameters, ...module.buffers()]),
  };
}

const elementsOf = (tensors: readonly Tensor[]) =>
  tensors.reduce((sum, { numel }) => sum + numel, 0);

const bytesOf = (tensors: readonly Tensor[]) =>
  tensors.reduce((sum, tensor) => sum + tensor.numel * tensor.elementSize(), 0);

const shapesOf = (value: unknown) => tensorsIn(value).map(({ shape }) => shape);

function inputsOf(module: nn.Module, size: InputSize, options: SummaryOptions): Tensor[] {
  if (size instanceof Tensor) return [size];
  const isList = Array.isArray(size) && size.length > 0;
  if (!isList)
    return refuse("summary", "inputSize", "a size such as [1, 3, 32, 32], sizes or tensors", size);
  if (size.every((item) => item instanceof Tensor)) return [...size];
  const { dtype = "float32", device = module.parameters()[0]?.device ?? "cpu" } = options;
  const sizes = size.every((item) => Array.isArray(item)) ? size : [size];
  return (sizes as number[][]).map((size) => zeros(size, { dtype, device }));
}
