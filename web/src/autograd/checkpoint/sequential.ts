// eg.autograd.checkpointSequential(): a sequence of layers in checkpoints.

import { readOptions } from "../../arguments/read.js";
import { count, type Options } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { checkpoint, kSharedOptions } from "./checkpoint.js";

/** A function or a module that computes a tensor from a tensor. */
export type SequentialPart =
  | ((input: Tensor) => Tensor)
  | {
      /** Computes it, as a module does. */
      call(input: Tensor): Tensor;
    };

/** Options of `checkpointSequential`. */
export type CheckpointSequentialOptions = Options<typeof kSharedOptions>;

/**
 * Returns the result of `functions` one after the other, for example the modules of a Sequential, divided into `segments`, each of which
 * but the last is a checkpoint.
 */
export function checkpointSequential(
  functions: Iterable<SequentialPart>,
  segments: number,
  input: Tensor,
  ...rest: [options?: CheckpointSequentialOptions]
): Tensor {
  const options = readOptions("checkpointSequential", kSharedOptions, rest);
  const parts = partsOf(functions);
  count.check("checkpointSequential", "segments", segments);
  tensorRule.check("checkpointSequential", "input", input);
  if (segments > parts.length) {
    const reason = `expected at most ${parts.length}, the number of functions, got ${segments}.`;
    fail("InvalidArgument", "checkpointSequential", `segments: ${reason}`);
  }
  const run = (own: readonly SequentialPart[]) => (given: Tensor) =>
    own.reduce((x, part) => (typeof part === "function" ? part(x) : part.call(x)), given);
  const size = Math.floor(parts.length / segments);
  let result = input;
  for (let i = 0; i < segments - 1; i++) {
    result = checkpoint(run(parts.slice(i * size, (i + 1) * size)), result, options);
  }
  return run(parts.slice((segments - 1) * size))(result);
}

function partsOf(functions: unknown): SequentialPart[] {
  const isList =
    typeof functions === "object" && functions !== null && Symbol.iterator in functions;
  const parts = isList ? [...(functions as Iterable<SequentialPart | null>)] : [];
  const isPart = (part: SequentialPart | null) => typeof part?.call === "function";
  if (isList && parts.every(isPart)) return parts as SequentialPart[];
  return fail(
    "InvalidArgument",
    "checkpointSequential",
    `functions: expected functions or modules in an array, or a Sequential, got ${describe(functions)}.`,
  );
}
