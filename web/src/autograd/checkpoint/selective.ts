// Selective checkpoints: the results of some operations are stored, the others are computed again.
//
// In the forward, the result of a chosen operation is stored, and what the operation saves for backward: by number if it is an
// argument, which the recomputation has too, else as a tensor. In the recomputation a Function takes the place of the operation: it
// returns the stored result and saves the same tensors.

import { readOptions } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { generatorState } from "../../ops/generator.js";
import { native } from "../../runtime/bridge/bridge.js";
import { isCapturing } from "../../runtime/bridge/live.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { handleOf } from "../../tensor/info.js";
import { Tensor } from "../../tensor/tensor.js";
import { Function as AutogradFunction, type FunctionContext } from "../function.js";
import { interceptedBy, type OpCall, type OpResult } from "../op_interceptor.js";
import { type CheckpointContext, kRelease } from "./contexts.js";
import { observingSaved } from "./frame.js";

const kName = "createSelectiveCheckpointContexts";

/** What happens to the result of an operation in a selective checkpoint; MUST and PREFER mean the same. */
export const CheckpointPolicy = {
  /** It is kept for backward. */
  MUST_SAVE: "mustSave",
  /** It is kept for backward. */
  PREFER_SAVE: "preferSave",
  /** It is computed again in backward. */
  MUST_RECOMPUTE: "mustRecompute",
  /** It is computed again in backward. */
  PREFER_RECOMPUTE: "preferRecompute",
} as const;

/** One of the values of `CheckpointPolicy`. */
export type CheckpointPolicy = (typeof CheckpointPolicy)[keyof typeof CheckpointPolicy];

/** Decides about a call of an operation: `op` and `values` are those that `eg.func.interceptOps` passes. True means to save the result. */
export type CheckpointPolicyFn = (
  ctx: { readonly isRecompute: boolean },
  op: string,
  values: Readonly<Record<string, unknown>>,
) => CheckpointPolicy | boolean;

const kOptions = {
  /** Whether stored results may be changed in place, which is an error otherwise; default false. */
  allowCacheEntryMutation: boolean.or(false),
};

/** Options of `createSelectiveCheckpointContexts`. */
export type SelectiveCheckpointOptions = Options<typeof kOptions>;

/**
 * Returns the contexts of a checkpoint that stores the results of some operations instead of computing them again, for its option
 * `contextFn`. `policy` is a function that decides, or a list of the names of the operations whose results are stored. In-place
 * operations always run again.
 */
export function createSelectiveCheckpointContexts(
  policy: CheckpointPolicyFn | readonly string[],
  ...rest: [options?: SelectiveCheckpointOptions]
): [forward: CheckpointContext, recompute: CheckpointContext] {
  const { allowCacheEntryMutation } = readOptions(kName, kOptions, rest);
  const cache = new Cache(decider(policy), allowCacheEntryMutation);
  const forward: CheckpointContext = (run) => interceptedBy(kName, cache.store, run);
  const recompute: CheckpointContext = (run) => interceptedBy(kName, cache.restore, run);
  return [forward, Object.assign(recompute, { [kRelease]: () => cache.dispose() })];
}

function decider(policy: unknown): CheckpointPolicyFn {
  if (typeof policy === "function") return policy as CheckpointPolicyFn;
  if (Array.isArray(policy) && policy.every((op) => typeof op === "string")) {
    return (_ctx, op) => policy.includes(op);
  }
  return fail(
    "InvalidArgument",
    kName,
    `policy: expected a function, or an array of names of operations, got ${describe(policy)}.`,
  );
}

const kSaves: ReadonlySet<unknown> = /* @__PURE__ */ new Set([true, "mustSave", "preferSave"]);

/** A stored tensor, with its version. */
interface Stored {
  readonly tensor: Tensor;
  readonly version: number;
  readonly requiresGrad: boolean;
}

/** A stored call of an operation. */
interface Entry {
  readonly isList: boolean;
  readonly results: readonly Stored[];
  /** What it saved for backward: the number of an argument, or a tensor. */
  readonly saved: readonly (number | Stored)[];
  /** The state of the random numbers after the call, if it has drawn any. */
  readonly drawn: Tensor | null;
}

class Cache {
  readonly #entries = new Map<string, Entry[]>();
  readonly #policy: CheckpointPolicyFn;
  readonly #allowsMutation: boolean;

  constructor(policy: CheckpointPolicyFn, allowsMutation: boolean) {
    this.#policy = policy;
    this.#allowsMutation = allowsMutation;
  }

  readonly store = (call: OpCall): OpResult => {
    if (!this.#isChosen(call, false)) return call.run();
    const args = tensorsIn(call.values);
    const saved: (number | Stored)[] = [];
    const before = isCapturing() ? null : generatorState();
    const result = observingSaved((tensor) => {
      const first = native.firstHandle(tensor.handle);
      const index = args.findIndex((arg) => native.firstHandle(handleOf(arg)) === first);
      saved.push(index < 0 ? storedOf(tensor) : index);
    }, call.run);
    const entry: Entry = {
      isList: Array.isArray(result),
      results: [result].flat().map(storedOf),
      saved,
      drawn: before === null ? null : drawnSince(before),
    };
    before?.dispose();
    const own = this.#entries.get(call.op);
    if (own === undefined) this.#entries.set(call.op, [entry]);
    else own.push(entry);
    return result;
  };

  readonly restore = (call: OpCall): OpResult => {
    if (!this.#isChosen(call, true)) return call.run();
    const own = this.#entries.get(call.op);
    if (own === undefined) {
      fail("InvalidArgument", kName, `${call.op} was called again, but not in the forward.`);
    }
    const entry = own.shift();
    if (entry === undefined) {
      fail(
        "InvalidArgument",
        kName,
        `the stored results of ${call.op} were already used: backward may run only once through a selective checkpoint.`,
      );
    }
    try {
      if (!this.#allowsMutation) checkUnchanged(call.op, entry);
      if (entry.drawn !== null) native.setRngState(entry.drawn.handle);
      const results: Tensor[] = StoredCall.apply(entry, ...tensorsIn(call.values));
      return entry.isList ? results : (results[0] as Tensor);
    } finally {
      disposeEntry(entry);
    }
  };

  #isChosen(call: OpCall, isRecompute: boolean): boolean {
    if (call.isComposite || call.changes !== null || call.op === "alias") return false;
    return kSaves.has(this.#policy({ isRecompute }, call.op, call.values));
  }

  dispose(): void {
    for (const own of this.#entries.values()) own.splice(0).forEach(disposeEntry);
  }
}

/** Takes the place of an operation whose results are stored. */
class StoredCall extends AutogradFunction {
  static override forward(ctx: FunctionContext, entry: Entry, ...args: Tensor[]): Tensor[] {
    ctx.saveForBackward(
      ...entry.saved.map((source) =>
        typeof source === "number" ? (args[source] as Tensor) : source.tensor,
      ),
    );
    const results = entry.results.map(({ tensor }) => tensor.detach());
    ctx.markNonDifferentiable(...results.filter((_, i) => !entry.results[i]?.requiresGrad));
    return results;
  }

  static override backward(): never {
    return fail(
      "NotDifferentiable",
      kName,
      "a checkpointed function cannot differentiate operations whose results are stored.",
    );
  }
}

function tensorsIn(values: Readonly<Record<string, unknown>>): Tensor[] {
  return Object.values(values)
    .flat()
    .filter((value): value is Tensor => value instanceof Tensor);
}

function storedOf(tensor: Tensor): Stored {
  const own = tensor.detach();
  own.isKept = true;
  return { tensor: own, version: own.version, requiresGrad: tensor.requiresGrad };
}

function checkUnchanged(op: string, { results, saved }: Entry): void {
  for (const result of [...results, ...saved]) {
    if (typeof result === "number" || result.tensor.version === result.version) continue;
    fail(
      "ModifiedInPlace",
      kName,
      `a stored result of ${op} has been changed in place. Set allowCacheEntryMutation: true if that does not matter.`,
    );
  }
}

// Returns the state of the random numbers if it is not `before`.
function drawnSince(before: Tensor): Tensor | null {
  const now = generatorState();
  const [a, b] = [before.dataSync() as Uint8Array, now.dataSync() as Uint8Array];
  if (a.some((byte, i) => byte !== b[i])) {
    now.isKept = true;
    return now;
  }
  now.dispose();
  return null;
}

function disposeEntry({ results, saved, drawn }: Entry): void {
  for (const result of [...results, ...saved])
    if (typeof result !== "number") result.tensor.dispose();
  drawn?.dispose();
}
