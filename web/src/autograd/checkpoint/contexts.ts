// What runs around the two runs of a checkpointed function.

import { describe, fail } from "../../runtime/errors/errors.js";
import type { OpCall } from "../op_interceptor.js";
import { interceptedBy } from "../op_interceptor.js";

/** Runs a function within something, for example `(run) => eg.noGrad(run)`, and returns its value. */
export type CheckpointContext = <T>(run: () => T) => T;

/** What runs around the forward and around its recomputation. */
export interface Contexts {
  readonly forward: CheckpointContext;
  readonly recompute: CheckpointContext;
  /** Frees what the two share. */
  readonly release?: (() => void) | undefined;
}

/** The hidden property of a context that holds the function which frees its tensors. */
export const kRelease: unique symbol = Symbol("release");

const plain: CheckpointContext = (run) => run();

/** Nothing around either run. */
export const kNoContexts: Contexts = { forward: plain, recompute: plain };

/** Calls `contextFn`, which returns a pair of contexts. */
export function contextsFrom(contextFn: () => unknown): Contexts {
  const pair: unknown = contextFn();
  const isContext = (value: unknown) => value === null || typeof value === "function";
  if (!Array.isArray(pair) || pair.length !== 2 || !pair.every(isContext)) {
    fail(
      "InvalidArgument",
      "checkpoint",
      "contextFn must return [around the forward, around the recomputation], two functions that call the function they are " +
        `given, or null; got ${describe(pair)}.`,
    );
  }
  const [forward, recompute] = pair as (CheckpointContext | null)[];
  const release = (recompute as { [kRelease]?: () => void } | null)?.[kRelease];
  return { forward: forward ?? plain, recompute: recompute ?? plain, release };
}

/** Returns contexts that note the ops of both runs, and the text that compares them. */
export function debugContexts(): { contexts: Contexts; explain: () => string } {
  const ran = { forward: [] as string[], recompute: [] as string[] };
  const noting = (list: string[]) => (call: OpCall) => {
    if (!call.isComposite) list.push(call.op);
    return call.run();
  };
  const contexts: Contexts = {
    forward: (run) => interceptedBy("checkpoint", noting(ran.forward), run),
    recompute: (run) => {
      ran.recompute = [];
      return interceptedBy("checkpoint", noting(ran.recompute), run);
    },
  };
  const explain = () =>
    `\nThe operations of the forward: ${ran.forward.join(" ")}\nof the recomputation: ${ran.recompute.join(" ")}\n` +
    "You see them because of debug: true.";
  return { contexts, explain };
}
