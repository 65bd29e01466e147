// Loading a state dict: everything is checked before anything is copied.

import { boolean, type Options, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { copy_ } from "../generated/ops.js";
import { checked, native } from "../runtime/bridge.js";
import { describe, EdgeGradError } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { replaceHandle } from "../tensor/lifetime.js";
import { Tensor } from "../tensor/tensor.js";

/** The names that did not match, when loading was not strict. */
export interface LoadResult {
  /** Names of the module that the state dict lacks. */
  readonly missingKeys: string[];
  /** Names of the state dict that the module lacks. */
  readonly unexpectedKeys: string[];
}

/** The declaration of how tensors are loaded. */
export const kLoadOptions = {
  /** Throw if names are missing or unknown; default true. */
  strict: boolean.or(true),
  /** Share the data of the given tensors instead of copying it; default false. */
  assign: boolean.or(false),
};

/** How tensors are loaded. */
export type LoadOptions = Options<typeof kLoadOptions>;

/** Copies the tensors of `state` into the `targets` of the same names, or lets these share their data. */
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
  if (strict && missingKeys.length > 0) problems.push(`Missing keys: ${quote(missingKeys)}.`);
  if (strict && unexpectedKeys.length > 0) {
    problems.push(`Unexpected keys: ${quote(unexpectedKeys)}.`);
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
    throw new EdgeGradError(code, `[loadStateDict] the state dict does not fit ${owner}:${text}`);
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
 * Gives `target` the data of `source`. It stays the same object, so that optimizers that have it continue with the new data.
 * It has its own version counter, because threads that train one model together (Hogwild) must not detect each other's steps
 * as changes of saved tensors.
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
    `${key}: the state dict has the shape [${given.join(", ")}], the model [${own.join(", ")}].`,
  ];
}

function quote(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(", ");
}
