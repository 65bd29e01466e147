// Loading a state dict: everything is checked before anything is copied.

import { boolean, type Options, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { copy_ } from "../generated/ops.js";
import { checked, native } from "../runtime/bridge.js";
import { describe, EdgeGradError } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { replaceHandle } from "../tensor/lifetime.js";
import { Tensor } from "../tensor/tensor.js";

/** What did not match, when loading was not strict. */
export interface LoadResult {
  /** What the module has and the state dict lacks. */
  readonly missingKeys: string[];
  /** What the state dict has and the module lacks. */
  readonly unexpectedKeys: string[];
}

/** The declaration of how tensors are loaded. */
export const kLoadOptions = {
  /** Fail when names are missing or unknown; the default. */
  strict: boolean.or(true),
  /** Share the data of the given tensors from now on instead of copying it; default false. */
  assign: boolean.or(false),
};

/** How tensors are loaded. */
export type LoadOptions = Options<typeof kLoadOptions>;

/** Copies the tensors of `state` into `targets` of the same names, or has them share data. */
export function loadInto(
  owner: string,
  targets: ReadonlyMap<string, Tensor>,
  state: Readonly<Record<string, Tensor>>,
  { strict, assign }: Values<typeof kLoadOptions>,
): LoadResult {
  const given = new Map(Object.entries(state));
  const missingKeys = [...targets.keys()].filter((key) => !given.has(key));
  const unexpectedKeys = [...given.keys()].filter((key) => !targets.has(key));
  const pairs: [Tensor, Tensor][] = [];
  const problems: string[] = [];
  if (strict && missingKeys.length > 0)
    problems.push(`Missing key(s) in state_dict: ${quote(missingKeys)}.`);
  if (strict && unexpectedKeys.length > 0) {
    problems.push(`Unexpected key(s) in state_dict: ${quote(unexpectedKeys)}.`);
  }
  const mismatches = [...targets].flatMap(([key, target]) => {
    const source: unknown = given.get(key);
    if (source === undefined) return [];
    if (!(source instanceof Tensor)) return [`${key}: expected a tensor, got ${describe(source)}.`];
    pairs.push([target, source]);
    return sizeMismatch(key, source, target);
  });
  if (problems.length + mismatches.length > 0) {
    const text = [...problems, ...mismatches].map((problem) => `\n\t${problem}`).join("");
    const code = problems.length === 0 ? "ShapeMismatch" : "InvalidArgument";
    throw new EdgeGradError(
      code,
      `[loadStateDict] Error(s) in loading state_dict for ${owner}:${text}`,
    );
  }
  noGrad(() => {
    for (const [target, source] of pairs) {
      if (assign) shareData(target, source);
      else copy_(target, source);
    }
  });
  return { missingKeys, unexpectedKeys };
}

/**
 * Gives `target` the data of `source`. It stays the same object: optimizers that have it go on with the
 * new data. It counts versions of its own: threads that train one model at once (Hogwild) must not find
 * fault with each other's steps.
 */
export function shareData(target: Tensor, source: Tensor): void {
  const { requiresGrad } = target;
  native.outdate(handleOf(target));
  replaceHandle(target, checked(native.data(handleOf(source))));
  if (requiresGrad) target.requiresGrad = true;
}

function sizeMismatch(key: string, source: Tensor, target: Tensor): string[] {
  const given = source.shape;
  const own = target.shape;
  if (String(given) === String(own)) return [];
  return [
    `size mismatch for ${key}: copying a param with shape [${given.join(", ")}] from checkpoint, ` +
      `the shape in current model is [${own.join(", ")}].`,
  ];
}

function quote(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(", ");
}
