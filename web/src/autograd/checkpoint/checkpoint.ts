// eg.autograd.checkpoint(): saves memory by computing values again in backward.

import { isPlainObject, readOptions } from "../../arguments/read.js";
import { boolean, functionOf, type Options, oneOf } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { isGradEnabled } from "../grad_mode.js";
import { checkFunction } from "../hooks.js";
import { type CheckpointContext, contextsFrom, debugContexts, kNoContexts } from "./contexts.js";
import { Frame } from "./frame.js";
import { modes } from "./modes.js";
import { checkpointReentrant } from "./reentrant.js";

/** The declaration of the options that checkpoint() and checkpointSequential() share. */
export const kSharedOptions = {
  /**
   * Whether to record one node, whose backward calls backward() itself: an input must then require a gradient, and grad() and
   * `inputs` of backward() do not work. Default false.
   */
  useReentrant: boolean.or(false),
  /** Whether the second run draws the same random numbers; default true. */
  preserveRngState: boolean.or(true),
};

const kOptions = {
  ...kSharedOptions,
  /**
   * Called for each call of checkpoint(); returns two functions, of which the first calls the function in the forward and the second
   * in the recomputation, for example those of createSelectiveCheckpointContexts(). Not with `useReentrant`.
   */
  contextFn:
    functionOf<
      () => readonly [forward: CheckpointContext | null, recompute: CheckpointContext | null]
    >().orNull(),
  /** Whether recomputed tensors must have the same shapes, dtypes and devices ("default"), or are not compared ("none"). */
  determinismCheck: oneOf("default", "none").or("default"),
  /** Whether errors about a recomputation that differs show the operations of both runs; default false. */
  debug: boolean.or(false),
};

/** Options of `checkpoint`. */
export type CheckpointOptions = Options<typeof kOptions & typeof kSharedOptions>;

const kNoExplanation = () => "";

/**
 * Returns fn(...inputs) and saves only the inputs for backward, which runs `fn` again to compute the other
 * tensors it needs. `fn` must be deterministic; it runs with the same autocast, default dtype and random numbers. Options are
 * the last argument, an object; `fn` gets what else is in it.
 */
export function checkpoint<Args extends unknown[], T>(
  fn: (...inputs: Args) => T,
  ...inputs: Args
): T;
export function checkpoint<Args extends unknown[], T>(
  fn: (...inputs: Args) => T,
  ...given: [...inputs: Args, options: CheckpointOptions]
): T;
export function checkpoint(run: (...inputs: unknown[]) => unknown, ...given: unknown[]): unknown {
  checkFunction("checkpoint", run);
  const { inputs, options } = splitOptions(given);
  const { useReentrant, preserveRngState, contextFn, determinismCheck, debug } = readOptions(
    "checkpoint",
    kOptions,
    options,
  );
  if (useReentrant) {
    if (contextFn !== null || debug) {
      fail(
        "InvalidArgument",
        "checkpoint",
        "contextFn and debug are only supported without useReentrant.",
      );
    }
    return isGradEnabled() ? checkpointReentrant(run, inputs, preserveRngState) : run(...inputs);
  }
  const isDebugged = modes.debug ?? debug;
  if (isDebugged && contextFn !== null) {
    fail("InvalidArgument", "checkpoint", "debug cannot be combined with contextFn.");
  }
  if (!isGradEnabled()) return run(...inputs);
  const own = contextFn === null ? kNoContexts : contextsFrom(contextFn);
  const { contexts, explain } = isDebugged
    ? debugContexts()
    : { contexts: own, explain: kNoExplanation };
  const frame = new Frame(run, inputs, {
    stopsEarly: modes.stopsEarly,
    isChecked: determinismCheck === "default",
    preserveRngState,
    contexts,
    explain,
  });
  try {
    return frame.run(() => run(...inputs));
  } finally {
    frame.endForward();
  }
}

// Separates the options from the other properties of the last argument.
function splitOptions(given: readonly unknown[]): {
  inputs: unknown[];
  options: Record<string, unknown>[];
} {
  const last = given.at(-1);
  const inputs = given.slice(0, -1);
  if (!isPlainObject(last)) return { inputs: [...given], options: [] };
  const isOption = ([key]: [string, unknown]) => key in kOptions;
  const entries = Object.entries(last);
  const options = entries.filter(isOption);
  if (options.length === 0) return { inputs: [...given], options: [] };
  const others = entries.filter((entry) => !isOption(entry));
  if (others.length > 0) inputs.push(Object.fromEntries(others));
  return { inputs, options: [Object.fromEntries(options)] };
}
