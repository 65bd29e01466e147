// Whether a stored tensor is a parameter, because an op learns it, or a constant. The steps that read it decide, not the place where
// the file stores it. If a step computes something from it that depends on no input of the graph, the readers of that result count, too.

import * as eg from "edgegrad";
import { numbersOf, type Stored } from "../tensors/decode.js";
import { readBy } from "./analyze.js";
import type { StoredTensor } from "./compile.js";
import { isOp } from "./patterns/match.js";
import { passing, type Step, type Subgraph } from "./program.js";

/** Whether a tensor is learned, and why. */
export interface Verdict {
  readonly isParameter: boolean;
  readonly reason: string;
}

interface Reader {
  readonly step: Step;
  /** The place of the tensor among the inputs of the step. */
  readonly at: number;
}

/** The limit on steps that are followed from one tensor. */
const kMostFollowed = 1000;

/** Added numbers below this make the softmax that follows ignore an element: exporters write masks with them. */
const kMaskFill = -9999;

// Inputs that say how an op computes, apart from those that its declaration calls settings.
const kFixed: Readonly<Record<string, readonly number[]>> = {
  Pow: [1],
  Where: [0],
  QuantizeLinear: [1, 2],
  DequantizeLinear: [1, 2],
};

// Ops that only move the elements of their first input.
const kMoves = [
  "Identity",
  "Cast",
  "CastLike",
  "Transpose",
  "Reshape",
  "Flatten",
  "Squeeze",
].concat(["Unsqueeze", "Expand", "Slice", "Split", "Gather", "Tile"]);
const kGrows = ["Expand", "Tile", "ConstantOfShape", "Range", "Pad", "Resize", "OneHot"];
const kProducts = ["MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum"];

/** The uses of the slots of a graph. */
export class Uses {
  readonly #readers = new Map<number, Reader[]>();
  readonly #makers = new Map<number, Step>();
  readonly #varying = new Set<number>();
  readonly #stored = new Map<number, Stored>();

  constructor(graph: Subgraph, stored: readonly StoredTensor[]) {
    for (const { slots, tensor } of stored) {
      for (const slot of slots) this.#stored.set(slot, tensor);
    }
    this.#scan(graph);
  }

  #scan(graph: Subgraph): void {
    for (const slot of graph.inputs) if (!this.#stored.has(slot)) this.#varying.add(slot);
    for (const step of graph.steps) {
      step.inputs.forEach((slot, at) => {
        const found = this.#readers.get(slot);
        if (found === undefined) this.#readers.set(slot, [{ step, at }]);
        else found.push({ step, at });
      });
      const read = readBy(step);
      const isVarying = read.length === 0 || read.some((slot) => this.#varying.has(slot));
      for (const slot of step.outputs) {
        this.#makers.set(slot, step);
        if (isVarying || step.graphs.length > 0) this.#varying.add(slot);
      }
      for (const inner of step.graphs) {
        this.#scan(inner);
        // A branch can choose a tensor.
        if (isOp(step, "If")) this.#rename(inner.outputs, step.outputs);
      }
    }
  }

  #rename(inner: readonly number[], outer: readonly number[]): void {
    inner.forEach((slot, i) => {
      const found = this.#readers.get(slot) ?? [];
      found.push({ step: passing("If", slot, outer[i] ?? -1), at: 0 });
      this.#readers.set(slot, found);
    });
  }

  /** Returns the ops that read a tensor. */
  readersOf({ slots }: StoredTensor): string[] {
    const all = slots.flatMap((slot) => this.#readers.get(slot) ?? []);
    return [...new Set(all.map(({ step }) => step.title))];
  }

  /** Returns what a tensor is for. */
  verdict({ slots, tensor }: StoredTensor): Verdict {
    const left = [...slots];
    const seen = new Set(left);
    let first: Verdict | undefined;
    for (let i = 0; i < left.length && i < kMostFollowed; i++) {
      for (const reader of this.#readers.get(left[i] as number) ?? []) {
        const found = this.#at(reader, tensor);
        if (found === "follow") {
          for (const slot of reader.step.outputs) {
            if (slot < 0 || seen.has(slot)) continue;
            seen.add(slot);
            left.push(slot);
          }
        } else if (found.isParameter) return found;
        else first ??= found;
      }
    }
    return first ?? constant("no op computes with it");
  }

  // What one step says about an input.
  #at({ step, at }: Reader, tensor: Stored): Verdict | "follow" {
    const { op, title, inputs } = step;
    if (op.updates?.includes(at)) return constant(`a statistic that ${title} updates`);
    if (op.weights?.includes(at)) {
      return this.#isNeutral(step, at, tensor)
        ? constant(`without effect in ${title}, which is a part of a group norm`)
        : learned(`a weight of ${title}`);
    }
    const isFixed = Object.entries(kFixed).some(
      ([name, places]) => places.includes(at) && isOp(step, name),
    );
    if (op.settings?.includes(at) || isFixed) return constant(`a setting of ${title}`);
    const slot = inputs[at] as number;
    const others = inputs.filter((input, i) => i !== at && input >= 0);
    const isStatic = !others.some((other) => this.#varying.has(other)) && !this.#varying.has(slot);
    if (isOneOf(step, ["Gather"]) && at === 0 && !isStatic && tensor.shape.length > 1)
      return learned(`a table in which ${title} looks up rows`);
    if (at === 0 && isOneOf(step, kMoves)) return "follow";
    const isSum = isOneOf(step, ["Add", "Sum"]);
    if (isSum && this.#isBiasOfOne(others, tensor)) return learned(`a bias that ${title} adds`);
    const isOne = tensor.count === 1 || this.#isOne(slot);
    if (isOne && !others.every((other) => this.#isOne(other)))
      return constant(`one number in ${title}`);
    if (isStatic) return "follow";
    const isProduct = isOneOf(step, ["Mul"]);
    if ((isSum || isProduct) && isMask(tensor)) return constant(`a mask in ${title}`);
    if (isSum) return learned(`${title} adds it`);
    if (isProduct) return learned(`${title} multiplies by it`);
    if (isOneOf(step, ["Concat"]) && !this.#isSetting(step))
      return learned(`${title} joins it to other values`);
    return constant(`an operand of ${title}`);
  }

  // Exporters write a group norm as an instance norm of reshaped channels, with a scale of ones and a bias of zeros.
  #isNeutral(step: Step, at: number, tensor: Stored): boolean {
    if (!isOneOf(step, ["InstanceNormalization"])) return false;
    const readers = this.#readers.get(step.outputs[0] ?? -1) ?? [];
    const areReshaped = readers.every((reader) => isOneOf(reader.step, ["Reshape"]));
    if (readers.length === 0 || !areReshaped) return false;
    const wanted = at === 1 ? 1 : 0;
    return valuesOf(tensor).every((value: number) => value === wanted);
  }

  // Whether all steps that read the output of a step use it as a setting.
  #isSetting({ outputs }: Step): boolean {
    const readers = outputs.flatMap((slot) => this.#readers.get(slot) ?? []);
    return readers.length > 0 && readers.every(({ step, at }) => step.op.settings?.includes(at));
  }

  // Whether a value has one element, as far as that is known without its shape.
  #isOne(slot: number): boolean {
    const stored = this.#stored.get(slot);
    if (stored !== undefined) return stored.count === 1;
    const maker = this.#makers.get(slot);
    if (maker === undefined || this.#varying.has(slot) || isOneOf(maker, kGrows)) return false;
    return (
      maker.inputs.length > 0 && maker.inputs.every((input) => input < 0 || this.#isOne(input))
    );
  }

  // Whether a vector of one element is the bias of a product with one result.
  #isBiasOfOne([other = -1]: readonly number[], { shape, count }: Stored): boolean {
    if (count !== 1 || shape.length === 0) return false;
    let maker = this.#makers.get(other);
    while (maker !== undefined && isOneOf(maker, kMoves))
      maker = this.#makers.get(maker.inputs[0] ?? -1);
    if (maker === undefined || !isOneOf(maker, kProducts)) return false;
    return this.#widthOf(maker) === 1;
  }

  // The number of results per row of a product with a stored weight.
  #widthOf({ inputs, attributes, op }: Step): number | undefined {
    let slot = inputs[1] ?? -1;
    let isTurned = attributes.transB === true;
    for (let maker = this.#makers.get(slot); maker !== undefined; maker = this.#makers.get(slot)) {
      if (!isOneOf(maker, ["Transpose", "Identity", "Cast"])) return undefined;
      if (isOneOf(maker, ["Transpose"])) isTurned = !isTurned;
      slot = maker.inputs[0] ?? -1;
    }
    const shape = this.#stored.get(slot)?.shape;
    const isConvolution = isOneOf({ op } as Step, ["Conv"]);
    return isConvolution || isTurned ? shape?.[0] : shape?.at(-1);
  }
}

const learned = (reason: string): Verdict => ({ isParameter: true, reason });
const constant = (reason: string): Verdict => ({ isParameter: false, reason });

const isOneOf = (step: Step, names: readonly string[]) => names.some((name) => isOp(step, name));

// Whether a tensor has elements that hide others: very negative ones to add, or only zeros and ones to multiply by.
function isMask(tensor: Stored): boolean {
  if (tensor.shape.length < 2 || tensor.type.startsWith("complex")) return false;
  const numbers = valuesOf(tensor);
  let isBinary = true;
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i] as number;
    if (number < kMaskFill) return true;
    isBinary &&= number === 0 || number === 1;
    sum += number;
  }
  return isBinary && sum > 0 && sum < numbers.length;
}

function valuesOf(tensor: Stored): Float32Array {
  const { apart } = tensor;
  const numbers =
    apart instanceof eg.Tensor ? eg.scope(() => apart.to("float32").dataSync()) : numbersOf(tensor);
  return numbers as Float32Array;
}
