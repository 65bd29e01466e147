// Hooks around stateDict() and loadStateDict() of modules.

import { boolean, type Options, text, type Values } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { finishLoading, type kLoadOptions, Loading, type LoadResult } from "./load_state.js";
import type { Module, StateDict } from "./module.js";

/** Called before the tensors of a module are listed; `prefix` is the beginning of their names. */
export type StateDictPreHook = (module: Module, prefix: string, keepVars: boolean) => void;

/** Called when the tensors of a module and its parts have been listed; may change the object. */
export type StateDictPostHook = (
  module: Module,
  stateDict: StateDict,
  prefix: string,
  localMetadata: Record<string, unknown>,
) => void;

/**
 * Called before the tensors of a module are looked up in the state dict, of which it may change its copy. It may add names to
 * `missingKeys` and `unexpectedKeys`, and to `errorMsgs` what is wrong.
 */
export type LoadStateDictPreHook = (
  module: Module,
  stateDict: StateDict,
  prefix: string,
  localMetadata: Record<string, unknown>,
  strict: boolean,
  missingKeys: string[],
  unexpectedKeys: string[],
  errorMsgs: string[],
) => void;

/** Called when a module and its parts have been loaded; may change the lists of names, which are then judged. */
export type LoadStateDictPostHook = (module: Module, incompatibleKeys: LoadResult) => void;

/** The hooks of a module around its state dict. */
export class StateHooks {
  readonly statePre = new Map<symbol, StateDictPreHook>();
  readonly statePost = new Map<symbol, StateDictPostHook>();
  readonly loadPre = new Map<symbol, LoadStateDictPreHook>();
  readonly loadPost = new Map<symbol, LoadStateDictPostHook>();
}

/** A module in the tree of one that is saved or loaded. */
export interface StateNode {
  readonly module: Module;
  /** The name of the module in the tree; "" for the outermost. */
  readonly path: string;
  readonly hooks: StateHooks | null;
  /** Its own parameters and persistent buffers. */
  readonly own: () => readonly [string, Tensor][];
  readonly children: () => readonly StateNode[];
}

const prefixOf = ({ path }: StateNode) => (path === "" ? "" : `${path}.`);

/** The declaration of how a state dict is made. */
export const kStateDictOptions = {
  /** What every name begins with; default "". */
  prefix: text.or(""),
  /** Whether the tensors are the parameters and buffers themselves, which record operations; default false. */
  keepVars: boolean.or(false),
};

/** Options of `Module.stateDict`. */
export type StateDictOptions = Options<typeof kStateDictOptions>;

/** Lists the tensors of a tree by name, each as `shown` returns it, with hooks. */
export function stateWithHooks(
  root: StateNode,
  shown: (tensor: Tensor) => Tensor,
  { prefix: start, keepVars }: Values<typeof kStateDictOptions>,
): StateDict {
  const state: StateDict = {};
  const visit = (node: StateNode) => {
    const prefix = start + prefixOf(node);
    for (const hook of node.hooks?.statePre.values() ?? []) hook(node.module, prefix, keepVars);
    for (const [name, tensor] of node.own()) state[prefix + name] = shown(tensor);
    for (const child of node.children()) visit(child);
    for (const hook of node.hooks?.statePost.values() ?? []) {
      refuseResult("registerStateDictPostHook", hook(node.module, state, prefix, {}));
    }
  };
  visit(root);
  return state;
}

/** Loads a state dict into a tree, with hooks. */
export function loadWithHooks(
  owner: string,
  root: StateNode,
  state: Readonly<StateDict>,
  options: Values<typeof kLoadOptions>,
): LoadResult {
  const loading = new Loading();
  const { missingKeys, unexpectedKeys, mismatches } = loading;
  const look = (node: StateNode, given: StateDict) => {
    const prefix = prefixOf(node);
    for (const hook of node.hooks?.loadPre.values() ?? []) {
      hook(node.module, given, prefix, {}, true, missingKeys, unexpectedKeys, mismatches);
    }
    const own = new Map(node.own());
    const children = node.children();
    const childNames = new Set(children.map(({ path }) => path.slice(prefix.length)));
    for (const [name, target] of own) loading.find(prefix + name, target, given);
    for (const key of Object.keys(given)) {
      if (!key.startsWith(prefix)) continue;
      const name = key.slice(prefix.length);
      const isPart = name.includes(".") && childNames.has(name.slice(0, name.indexOf(".")));
      if (!isPart && !own.has(name)) unexpectedKeys.push(key);
    }
    for (const child of children) {
      const entries = Object.entries(given).filter(([key]) => key.startsWith(prefixOf(child)));
      look(child, Object.fromEntries(entries));
    }
  };
  look(root, { ...state });
  // What a hook after loading may correct is judged after it.
  const nodes = inPostorder(root);
  const hasPostHooks = nodes.some(({ hooks }) => (hooks?.loadPost.size ?? 0) > 0);
  loading.judge(owner, options.strict && !hasPostHooks);
  finishLoading(loading, options);
  const result: LoadResult = { missingKeys, unexpectedKeys };
  for (const { module, hooks } of nodes) {
    for (const hook of hooks?.loadPost.values() ?? []) {
      refuseResult("registerLoadStateDictPostHook", hook(module, result));
    }
  }
  if (hasPostHooks) loading.judge(owner, options.strict);
  return result;
}

function inPostorder(node: StateNode): StateNode[] {
  return [...node.children().flatMap(inPostorder), node];
}

function refuseResult(where: string, result: unknown): void {
  if (result === undefined || result === null) return;
  fail("InvalidArgument", where, "the hook must return nothing: it changes what it is given.");
}
