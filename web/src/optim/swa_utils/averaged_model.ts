import { readArguments } from "../../arguments/read.js";
import { boolean, functionOf, type Options, Rule } from "../../arguments/rule.js";
import { add_, copy_, zeros } from "../../generated/ops.js";
import { Buffer, Module } from "../../nn/index.js";
import { fail } from "../../runtime/errors/errors.js";
import { deviceRule } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { quietly } from "../quietly.js";
import { type AvgFn, getSwaAvgFn, type MultiAvgFn } from "./averaging.js";

/** A module, as an argument. */
export const moduleRule = new Rule<Module>("a module", (value) => value instanceof Module);

const kOptions = {
  /** The device of the averages; default the model's. */
  device: deviceRule.orNull(),
  /** The function that computes the next average of a tensor; default the mean, `getSwaAvgFn()`. */
  avgFn: functionOf<AvgFn>().orNull(),
  /** A function that updates the averages in place, instead of `avgFn`. */
  multiAvgFn: functionOf<MultiAvgFn>().orNull(),
  /** Average buffers too; default false: they are copied. */
  useBuffers: boolean.or(false),
};

const kArguments = { model: moduleRule, ...kOptions };
const kUpdateArguments = { model: moduleRule };

/** Options of `AveragedModel`. */
export type AveragedModelOptions = Options<typeof kOptions>;

/** A copy of a model whose parameters are an average of the model's parameters over time. */
export class AveragedModel extends Module {
  /** The copy. */
  readonly module: Module;
  /** The number of updates. */
  readonly n_averaged: Buffer;
  readonly avgFn: AvgFn | null;
  readonly multiAvgFn: MultiAvgFn | null;
  readonly useBuffers: boolean;

  constructor(model: Module, ...rest: [options?: AveragedModelOptions]) {
    super();
    const named = readArguments("AveragedModel", kArguments, [model, ...rest]);
    const { device, avgFn, multiAvgFn } = named;
    if (avgFn !== null && multiAvgFn !== null) {
      const reason = "expected avgFn or multiAvgFn, got both.";
      fail("InvalidArgument", "AveragedModel", reason);
    }
    this.module = named.model.clone();
    if (device !== null) this.module.to(device);
    const [first] = this.module.parameters();
    const place = device ?? first?.device ?? "cpu";
    this.n_averaged = new Buffer(zeros([], { dtype: "int64", device: place }));
    this.avgFn = avgFn;
    this.multiAvgFn = multiAvgFn;
    this.useBuffers = named.useBuffers;
  }

  /** Runs the copy. */
  override forward(...inputs: never[]): unknown {
    return this.module.call(...inputs);
  }

  /** Includes the current parameters of the model in the average; the first call copies them. */
  updateParameters(...given: [model: Module]): void {
    const where = "AveragedModel.updateParameters";
    const { model } = readArguments(where, kUpdateArguments, given);
    const own = averagedIn(this.module, this.useBuffers);
    const theirs = averagedIn(model, this.useBuffers);
    checkAlike(where, own, theirs);
    const buffers = this.module.buffers();
    checkAlike(where, buffers, model.buffers());
    quietly(() => {
      const numAveraged = Number(this.n_averaged.item());
      const current = theirs.map((t, i) => t.detach().to((own[i] as Tensor).device));
      if (numAveraged === 0) copyAll(own, current);
      else average(this, own, current, numAveraged);
      if (!this.useBuffers) copyAll(buffers, model.buffers());
      add_(this.n_averaged, 1);
    });
  }
}

function averagedIn(model: Module, useBuffers: boolean): Tensor[] {
  return useBuffers ? [...model.parameters(), ...model.buffers()] : model.parameters();
}

function average(
  { avgFn, multiAvgFn }: AveragedModel,
  own: readonly Tensor[],
  current: readonly Tensor[],
  numAveraged: number,
): void {
  if (multiAvgFn === null) {
    const next = avgFn ?? getSwaAvgFn();
    copyAll(
      own,
      own.map((t, i) => next(t.detach(), current[i] as Tensor, numAveraged)),
    );
    return;
  }
  for (const chosen of positionsByKind(own)) {
    const averaged = chosen.map((i) => (own[i] as Tensor).detach());
    const next = chosen.map((i) => current[i] as Tensor);
    multiAvgFn(averaged, next, numAveraged);
  }
}

function copyAll(to: readonly Tensor[], from: readonly Tensor[]): void {
  to.forEach((t, i) => {
    copy_(t, from[i] as Tensor);
  });
}

// The indices of tensors, grouped by device and dtype.
function positionsByKind(tensors: readonly Tensor[]): number[][] {
  const kinds = new Map<string, number[]>();
  tensors.forEach(({ device, dtype }, i) => {
    const kind = `${device} ${dtype}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), i]);
  });
  return [...kinds.values()];
}

function checkAlike(where: string, own: readonly Tensor[], theirs: readonly Tensor[]): void {
  const shapes = (tensors: readonly Tensor[]) => tensors.map(({ shape }) => `[${shape}]`).join(" ");
  if (shapes(own) === shapes(theirs)) return;
  const reason = `expected a model like the averaged one, with tensors ${shapes(own)}, got ${shapes(theirs)}.`;
  fail("ShapeMismatch", where, reason);
}
