// Loading a state dict: everything is checked before anything is copied.

import { boolean, type Options, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { copy_ } from "../generated/ops.js";
import { checked, native } from "../runtime/bridge/bridge.js";
import { describe, EdgeGradError } from "../runtime/errors/errors.js";
import { handleOf } from "../tensor/info.js";
import { replaceHandle } from "../tensor/lifetime.js";
import { Tensor } from "../tensor/tensor.js";
import { shapelessOrNull } from "./parameter.js";

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

/** A state dict that is compared with a module: what to copy, and what does not match. */
export class Loading {
  readonly pairs: [target: Tensor, source: Tensor][] = [];
  readonly missingKeys: string[] = [];
  readonly unexpectedKeys: string[] = [];
  /** What is wrong with the tensors, and what hooks have found. */
  readonly mismatches: string[] = [];

  /** Looks up the tensor for `target`. */
  find(key: string, target: Tensor, state: Readonly<Record<string, unknown>>): void {
    const source = Object.hasOwn(state, key) ? state[key] : undefined;
    if (source === undefined) {
      if (!Object.hasOwn(state, key)) this.missingKeys.push(key);
    } else if (source instanceof Tensor) {
      this.pairs.push([target, source]);
      this.mismatches.push(...sizeMismatch(key, source, target));
    } else {
      this.mismatches.push(`${key}: expected a tensor, got ${describe(source)}.`);
    }
  }

  /** Throws if something is wrong, with `strict` also for names that do not match. */
  judge(owner: string, strict: boolean): void {
    const { missingKeys, unexpectedKeys, mismatches } = this;
    const problems: string[] = [];
    if (strict && missingKeys.length > 0) problems.push(`Missing keys: ${quote(missingKeys)}.`);
    if (strict && unexpectedKeys.length > 0) {
      problems.push(`Unexpected keys: ${quote(unexpectedKeys)}.`);
    }
    if (problems.length + mismatches.length === 0) return;
    const text = [...problems, ...mismatches].map((problem) => `\n\t${problem}`).join("");
    const code = problems.length === 0 ? "ShapeMismatch" : "InvalidArgument";
    throw new EdgeGradError(code, `[loadStateDict] the state dict does not fit ${owner}:${text}`);
  }
}

/** Copies the tensors of `state` into the `targets` of the same names, or lets these share their data. */
export function loadInto(
  owner: string,
  targets: ReadonlyMap<string, Tensor>,
  state: Readonly<Record<string, Tensor>>,
  options: Values<typeof kLoadOptions>,
): LoadResult {
  const loading = new Loading();
  for (const [key, target] of targets) loading.find(key, target, state);
  loading.unexpectedKeys.push(...Object.keys(state).filter((key) => !targets.has(key)));
  loading.judge(owner, options.strict);
  finishLoading(loading, options);
  const { missingKeys, unexpectedKeys } = loading;
  return { missingKeys, unexpectedKeys };
}

/** Copies the tensors, or lets the targets share their data. */
export function finishLoading(
  { pairs }: Loading,
  { assign }: Pick<Values<typeof kLoadOptions>, "assign">,
): void {
  noGrad(() => {
    for (const [target, source] of pairs) {
      const shapeless = shapelessOrNull(target);
      if (shapeless !== null) shapeless.takeFrom(source, assign);
      else if (assign) shareData(target, source);
      else copy_(target, source);
    }
  });
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
  if (shapelessOrNull(target) !== null) return [];
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
