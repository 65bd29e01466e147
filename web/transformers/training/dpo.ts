// Direct preference optimization: a model learns which of two answers is better, compared with what it answered before.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { checkOptions, kPositive, type OptionRule, orNull } from "../options.js";
import {
  type CollatorOptions,
  DataCollatorForLanguageModeling,
  type LanguageBatch,
} from "./collator.js";
import { answerExample } from "./examples.js";

/** A question with two answers, as tokens. */
export interface Preference {
  /** The tokens of the question. */
  readonly prompt: readonly number[];
  /** The tokens of the better answer. */
  readonly chosen: readonly number[];
  /** The tokens of the worse answer. */
  readonly rejected: readonly number[];
}

/** Collates preferences for `dpoLoss`: the better answers are the first half of the batch, and the worse ones the second half. */
export class DataCollatorForPreference {
  readonly #collator: DataCollatorForLanguageModeling;

  constructor(options: Omit<CollatorOptions, "masking">) {
    this.#collator = new DataCollatorForLanguageModeling(options);
  }

  /** Returns the batch of the preferences. */
  readonly collate = (pairs: readonly Preference[]): LanguageBatch =>
    this.#collator.collate([
      ...pairs.map(({ prompt, chosen }) => answerExample(prompt, chosen)),
      ...pairs.map(({ prompt, rejected }) => answerExample(prompt, rejected)),
    ]);

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

type LanguageModel = eg.nn.Module;

/** Options of `dpoLoss`. */
export interface DpoOptions {
  /** How much a difference from the reference counts: small values allow larger ones; default 0.1. */
  readonly beta?: number | undefined;
  /** The share of pairs that are expected to be the wrong way round, from 0 to below 0.5; default 0. */
  readonly labelSmoothing?: number | undefined;
  /** The model before training; default: the model without its adapters. */
  readonly reference?: LanguageModel | null | undefined;
}

/** What `dpoLoss` returns. */
export interface DpoLoss {
  /** The mean loss of the pairs. */
  readonly loss: eg.Tensor;
  /** The number of pairs, as a tensor. */
  readonly lossCount: eg.Tensor;
  /** How much likelier the better answers have become, times beta: [pairs]. */
  readonly chosenRewards: eg.Tensor;
  /** How much likelier the worse answers have become, times beta: [pairs]. */
  readonly rejectedRewards: eg.Tensor;
}

const kModel: OptionRule = orNull({
  expected: "a module",
  accepts: (value) => value instanceof eg.nn.Module,
});
const kOptions = {
  beta: kPositive,
  labelSmoothing: {
    expected: "a number from 0 to below 0.5",
    accepts: (value: unknown) => typeof value === "number" && value >= 0 && value < 0.5,
  },
  reference: kModel,
};

/**
 * Returns the loss of direct preference optimization for a batch of `DataCollatorForPreference`, to be used as `lossOf` of `fit`. Throws InvalidArgument without
 * a reference for a model that has no adapters.
 */
export function dpoLoss(
  model: LanguageModel,
  batch: LanguageBatch,
  options: DpoOptions = {},
): DpoLoss {
  checkOptions("dpoLoss", options, kOptions);
  const { beta = 0.1, labelSmoothing = 0, reference } = options;
  const moved = onDevice(batch, model);
  const own = answerLogs(model, moved);
  const before = eg.noGrad(() => logsBefore(model, reference ?? null, moved));
  const [chosen, rejected] = own.sub(before).mul(beta).chunk(2, 0) as [eg.Tensor, eg.Tensor];
  const margin = chosen.sub(rejected);
  const right = eg.logsigmoid(margin);
  const losses =
    labelSmoothing === 0
      ? right
      : right.mul(1 - labelSmoothing).add(eg.logsigmoid(margin.neg()).mul(labelSmoothing));
  return {
    loss: losses.mean().neg(),
    lossCount: eg.tensor(margin.numel, { device: margin.device }),
    chosenRewards: chosen.detach(),
    rejectedRewards: rejected.detach(),
  };
}

interface WithAdapters {
  disableAdapter?<T>(fn: () => T): T;
}

function logsBefore(
  model: LanguageModel,
  reference: LanguageModel | null,
  batch: LanguageBatch,
): eg.Tensor {
  if (reference !== null) return answerLogs(reference, batch);
  const { disableAdapter } = model as WithAdapters;
  if (disableAdapter === undefined) {
    const advice = "pass the option reference, or a model with adapters";
    fail("InvalidArgument", "dpoLoss", `there is nothing to compare the model with: ${advice}.`);
  }
  // Without dropout, like any model that is not trained.
  const modes = new Map(model.modules().map((module) => [module, module.training]));
  model.eval();
  try {
    return disableAdapter.call(model, () => answerLogs(model, batch)) as eg.Tensor;
  } finally {
    for (const [module, training] of modes) module.training = training;
  }
}

function onDevice(batch: LanguageBatch, model: LanguageModel): LanguageBatch {
  const device = model.parameters()[0]?.device ?? "cpu";
  const moved = Object.entries(batch ?? {}).map(([name, tensor]) => [name, tensor.to(device)]);
  const { inputIds, labels, attentionMask } = Object.fromEntries(moved) as LanguageBatch;
  if (!(inputIds instanceof eg.Tensor) || (inputIds.shape[0] as number) % 2 !== 0) {
    const got = describe(batch);
    fail(
      "InvalidArgument",
      "dpoLoss",
      `expected a batch of DataCollatorForPreference, got ${got}.`,
    );
  }
  return { inputIds, labels, attentionMask };
}

// The logarithm of the probability of each answer: [texts].
function answerLogs(model: LanguageModel, { inputIds, attentionMask, labels }: LanguageBatch) {
  const { logits } = (model as Callable).call(inputIds, { attentionMask });
  const tokens = inputIds.shape[1] as number;
  const next = labels.narrow(1, 1, tokens - 1);
  const isAnswer = next.ne(-100);
  const logs = eg
    .logSoftmax(logits.narrow(1, 0, tokens - 1).float(), -1)
    .gather(2, next.maskedFill(isAnswer.logicalNot(), 0).unsqueeze(2))
    .reshape(next.shape);
  return logs.mul(isAnswer.to(logs.dtype)).sum(1);
}

type Callable = eg.nn.Module & {
  forward(ids: eg.Tensor, options: object): { logits: eg.Tensor };
};
