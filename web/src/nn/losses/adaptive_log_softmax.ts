import { type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, count, listOf, number, type Options } from "../../arguments/rule.js";
import {
  add,
  argmax,
  cat,
  gather,
  indexCopy,
  indexFill,
  indexSelect,
  logicalAnd,
  logSoftmax,
  mean,
  narrow,
  neg,
  nonzero,
  reshape,
  select,
  squeeze,
  sub,
  unsqueeze,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ModuleList } from "../containers/module_list.js";
import { Sequential } from "../containers/sequential.js";
import { kLayerArguments } from "../layer_options.js";
import { Linear } from "../linear/linear.js";
import { Module } from "../module.js";

const kOptions = {
  /** The size of each cluster's projection is that of the one before divided by this; default 4. */
  divValue: number.or(4),
  /** Add a learned bias to the scores of the frequent classes and of the clusters; default false. */
  headBias: boolean.or(false),
  ...kLayerArguments,
};

const kArguments = { inFeatures: count, nClasses: count, cutoffs: listOf(count), ...kOptions };

/** Options of `AdaptiveLogSoftmaxWithLoss`. */
export type AdaptiveLogSoftmaxOptions = Options<typeof kOptions & typeof kLayerArguments>;

/**
 * A classifier for many classes, sorted from frequent to rare. Classes before the first of `cutoffs` are scored together with
 * one score for each cluster of the rest, which the other cutoffs delimit; the classes of a cluster are scored only for inputs
 * whose target is among them.
 */
export class AdaptiveLogSoftmaxWithLoss extends Module {
  readonly inFeatures: number;
  readonly nClasses: number;
  readonly cutoffs: readonly number[];
  readonly divValue: number;
  readonly headBias: boolean;
  head: Linear;
  tail: ModuleList<Sequential>;

  constructor(
    inFeatures: number,
    nClasses: number,
    cutoffs: readonly number[],
    divValue?: number,
    headBias?: boolean,
  );
  constructor(
    inFeatures: number,
    nClasses: number,
    cutoffs: readonly number[],
    ...rest: MixedArguments<[divValue: number, headBias: boolean], AdaptiveLogSoftmaxOptions>
  );
  constructor(
    inFeatures: number,
    nClasses: number,
    cutoffs: readonly number[],
    options?: AdaptiveLogSoftmaxOptions,
  );
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const own = readArguments(name, kArguments, given);
    const { inFeatures, nClasses, cutoffs, divValue, device, dtype } = own;
    const isRising = cutoffs.every((cutoff, i) => cutoff > (cutoffs[i - 1] ?? 0));
    if (cutoffs.length === 0 || !isRising || (cutoffs.at(-1) as number) > nClasses - 1) {
      const message =
        `cutoffs: expected rising numbers from 1 to nClasses - 1 = ${nClasses - 1}, ` +
        `got [${cutoffs.join(", ")}].`;
      fail("InvalidArgument", name, message);
    }
    this.inFeatures = inFeatures;
    this.nClasses = nClasses;
    this.cutoffs = [...cutoffs, nClasses];
    this.divValue = divValue;
    this.headBias = own.headBias;
    const kind = { device, dtype };
    const [first = 0, ...ends] = this.cutoffs;
    this.head = new Linear(inFeatures, first + ends.length, { bias: own.headBias, ...kind });
    this.tail = new ModuleList(
      ends.map((end, i) => {
        const hidden = Math.floor(inFeatures / divValue ** (i + 1));
        const size = end - (this.cutoffs[i] as number);
        return new Sequential(
          new Linear(inFeatures, hidden, { bias: false, ...kind }),
          new Linear(hidden, size, { bias: false, ...kind }),
        );
      }),
    );
  }

  /** Draws new weights. */
  resetParameters(): void {
    this.head.resetParameters();
    for (const cluster of this.tail) {
      for (const layer of cluster) (layer as Linear).resetParameters();
    }
  }

  /** Returns the log probability of each target [N] given input [N, features], and minus their mean; also for a single row. */
  override forward(input: Tensor, target: Tensor): [output: Tensor, loss: Tensor] {
    const where = this.constructor.name;
    if (target.ndim > 1)
      fail("ShapeMismatch", where, `target: expected 0D or 1D, got ${target.ndim}D.`);
    const isBatch = target.ndim === 1;
    if (input.ndim !== target.ndim + 1 || (isBatch && input.shape[0] !== target.shape[0])) {
      const message = `input and target need the same batch size, got the shapes [${input.shape}] and [${target.shape}].`;
      fail("ShapeMismatch", where, message);
    }
    return scope(() => {
      const rows = isBatch ? input : unsqueeze(input, 0);
      const output = this.#logProbOfTargets(where, rows, isBatch ? target : unsqueeze(target, 0));
      return [isBatch ? output : squeeze(output, 0), neg(mean(output))];
    });
  }

  /** Returns the log probabilities of all classes: [N, classes]. */
  logProb(input: Tensor): Tensor {
    return scope(() => {
      const shortlist = this.cutoffs[0] as number;
      const head = logSoftmax(this.head.call(input), 1);
      const clusters = [...this.tail].map((cluster, i) => {
        const own = logSoftmax(cluster.call(input) as Tensor, 1);
        return add(own, narrow(head, 1, shortlist + i, 1));
      });
      return cat([narrow(head, 1, 0, shortlist), ...clusters], 1);
    });
  }

  /** Returns the most probable class of each row: [N]. */
  predict(input: Tensor): Tensor {
    return scope(() => argmax(this.logProb(input), 1));
  }

  // Reads the targets to skip clusters that none of them is in.
  #logProbOfTargets(where: string, input: Tensor, target: Tensor): Tensor {
    const [first = 0] = this.cutoffs;
    const { dtype, device } = input;
    const count = target.numel;
    let used = 0;
    let places = zeros([count], { dtype: "int64", device });
    let within = zeros([count], { dtype, device });
    [0, ...this.cutoffs.slice(0, -1)].forEach((low, i) => {
      const isHere = logicalAnd(target.ge(low), target.lt(this.cutoffs[i] as number));
      const rows = reshape(nonzero(isHere), [-1]);
      if (rows.numel === 0) return;
      used += rows.numel;
      const targets = indexSelect(target, 0, rows).to("int64");
      if (i === 0) {
        places = indexCopy(places, 0, rows, targets);
        return;
      }
      const cluster = this.tail.at(i - 1) as Sequential;
      const scores = logSoftmax(cluster.call(indexSelect(input, 0, rows)) as Tensor, 1);
      const own = gather(scores, 1, unsqueeze(sub(targets, low), 1));
      places = indexFill(places, 0, rows, first + i - 1);
      within = indexCopy(within, 0, rows, select(own, 1, 0));
    });
    if (used !== count) {
      const message = `target: expected classes from 0 to ${this.nClasses - 1}.`;
      fail("IndexOutOfRange", where, message);
    }
    const head = logSoftmax(this.head.call(input), 1);
    return add(within, squeeze(gather(head, 1, unsqueeze(places, 1)), 1));
  }
}
