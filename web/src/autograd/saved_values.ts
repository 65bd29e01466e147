// The tensors and numbers that a node saves for backward.

import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { camelCase } from "../runtime/host/spelling.js";
import { knownTensor } from "../tensor/tensor.js";
import { frameHooks, type Pack, type Unpack } from "./saved_tensors.js";

/** A tensor that a node has saved for backward. */
export interface SavedTensor {
  /** Stores the result of `pack` instead of the tensor and restores it with `unpack`. May be called only once. */
  registerHooks<Packed>(pack: Pack<Packed>, unpack: Unpack<Packed>): void;
}

/** Returns the saved tensors and numbers by name. A tensor is unpacked when its property is read. */
export function savedOf(node: { handle: number }): Record<string, unknown> {
  const saved: Record<string, unknown> = {};
  namesOf(node).forEach((name, i) => {
    Object.defineProperty(saved, name, {
      enumerable: true,
      get: () => knownTensor(checkedFor("saved", native.savedTensor(node.handle, i))),
    });
  });
  for (const line of linesOf(native.savedNumbers(node.handle))) {
    const [name = "", value] = line.split("\t");
    saved[camelCase(name)] = Number(value);
  }
  return saved;
}

/** Returns the saved tensors by name, for registering hooks. */
export function rawSavedOf(node: { handle: number }): Record<string, SavedTensor> {
  const savedTensor = (i: number): SavedTensor => ({
    registerHooks: (pack, unpack) => {
      const [packWords, unpackWords] = frameHooks(pack as Pack, unpack as Unpack);
      const ids = [holdFunction(packWords), holdFunction(unpackWords)] as const;
      checkedFor("registerHooks", native.registerSavedHooks(node.handle, i, ...ids));
    },
  });
  return Object.fromEntries(namesOf(node).map((name, i) => [name, savedTensor(i)]));
}

function namesOf({ handle }: { handle: number }): string[] {
  return linesOf(native.savedNames(handle)).map(camelCase);
}

function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}
