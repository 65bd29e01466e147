// Decides for every tensor that a file stores whether the module holds it as a parameter or a buffer, or the graph as a constant.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { hostOf } from "../tensors/decode.js";
import { tensorOfStored } from "../tensors/pieces.js";
import { kMostHostElements } from "../values/host.js";
import { dtypeOf } from "../values/types.js";
import type { Value } from "../values/value.js";
import type { Uses as SlotUses } from "./analyze.js";
import { constantOf, isFloating, type StoredTensor } from "./compile.js";
import type { Uses, Verdict } from "./uses.js";

/** How a graph uses a stored tensor. */
export interface TensorUse {
  /** Its sizes. */
  readonly shape: readonly number[];
  /** The nodes that read it: the op, and the name in quotes if the node has one. */
  readonly readers: readonly string[];
  /** Whether `load()` makes it a parameter by itself. */
  readonly isParameter: boolean;
  /** The reason, such as "a weight of Conv". */
  readonly reason: string;
}

/** Decides whether a stored tensor becomes a parameter. */
export type IsTrainable = (name: string, use: TensorUse) => boolean;

/** What became of a stored tensor. */
export interface OnnxTensor {
  /** Its name in the file; that of the value, if a `Constant` node stores it. */
  readonly name: string;
  /** Its sizes. */
  readonly shape: readonly number[];
  /** Its dtype; "string" for strings. */
  readonly dtype: eg.DType | "string";
  /** What it is: state of the module that is learned, other state of the module, or a part of the graph that is in no state dict. */
  readonly kind: "parameter" | "buffer" | "constant";
  /** Why it is that. */
  readonly reason: string;
}

/** A stored tensor that the module holds. */
export interface Held {
  readonly slots: readonly number[];
  readonly name: string;
  readonly value: eg.nn.Parameter | eg.nn.Buffer;
}

/** The stored tensors of a model, sorted by what became of them. */
export interface Kept {
  readonly held: ReadonlyMap<StoredTensor, Held>;
  readonly constants: readonly { readonly slots: readonly number[]; readonly value: Value }[];
  readonly described: readonly OnnxTensor[];
}

/** What a file lists about its own tensors; null where it does not. */
export interface Listed {
  readonly parameters: ReadonlySet<unknown> | null;
  readonly buffers: ReadonlySet<unknown> | null;
}

/** Decides what the stored tensors of a graph are. */
export class Keeper {
  constructor(
    readonly uses: Uses,
    readonly slots: ReadonlyMap<number, SlotUses>,
    readonly listed: Listed,
    /** The names of the inputs that load() fixes. */
    readonly fixed: ReadonlySet<string>,
    readonly trainable: boolean | IsTrainable,
  ) {}

  /** Returns all of these tensors as what they are. */
  keep(stored: readonly StoredTensor[]): Kept {
    const held = new Map<StoredTensor, Held>();
    const constants: { slots: readonly number[]; value: Value }[] = [];
    const small: StoredTensor[] = [];
    const described = stored.map((entry): OnnxTensor => {
      const { slots, name, tensor } = entry;
      const usual = this.#usual(entry);
      const { isParameter, reason } = this.#decided(entry, usual);
      // What could be trained stays in the state dict.
      const isState = isParameter || (usual.isParameter && entry.isInitializer);
      const constant = isState ? undefined : this.#constant(entry);
      let kind: OnnxTensor["kind"] = isParameter ? "parameter" : "buffer";
      if (constant !== undefined) {
        kind = "constant";
        if (constant instanceof eg.Tensor) {
          const value = new eg.nn.Buffer(constant, { persistent: false });
          held.set(entry, { slots, name: name || `constant_${slots[0]}`, value });
        } else {
          constants.push({ slots, value: constant });
          small.push(entry);
        }
      } else {
        const data = tensorOfStored(tensor);
        const value = isParameter ? new eg.nn.Parameter(data) : new eg.nn.Buffer(data);
        held.set(entry, { slots, name, value });
      }
      const { type, shape } = tensor;
      return { name, shape, dtype: dtypeOf(type) ?? "string", kind, reason };
    });
    this.#follow(small, held);
    return { held, constants, described };
  }

  // to() changes what the module holds, and the dtypes of that tell later whether it was called. So the module holds one number of each
  // dtype that it would otherwise lack.
  #follow(small: readonly StoredTensor[], held: Map<StoredTensor, Held>): void {
    const kinds = new Set([...held.values()].map(({ value }) => value.dtype));
    for (const entry of small) {
      const { name, tensor, slots } = entry;
      const dtype = dtypeOf(tensor.type);
      if (!kTrainable.test(tensor.type) || dtype === null || kinds.has(dtype)) continue;
      kinds.add(dtype);
      const value = new eg.nn.Buffer(tensorOfStored(tensor), { persistent: false });
      held.set(entry, { slots: [], name: name || `constant_${slots[0]}`, value });
    }
  }

  #usual(entry: StoredTensor): Verdict {
    const { type } = entry.tensor;
    if (this.#isFixed(entry)) return { isParameter: false, reason: "load() fixes this input" };
    if (!kTrainable.test(type)) return { isParameter: false, reason: `its type is ${type}` };
    return this.#byFile(entry) ?? this.uses.verdict(entry);
  }

  #isFixed({ name, isInitializer }: StoredTensor): boolean {
    return isInitializer && this.fixed.has(name);
  }

  #decided(entry: StoredTensor, found: Verdict): Verdict {
    const { name, tensor } = entry;
    if (this.trainable === true || this.#isFixed(entry) || !kTrainable.test(tensor.type))
      return found;
    if (this.trainable === false)
      return found.isParameter ? { isParameter: false, reason: "trainable is false" } : found;
    const use = { shape: tensor.shape, readers: this.uses.readersOf(entry), ...found };
    const answer: unknown = this.trainable(name, use);
    if (typeof answer !== "boolean") {
      const text = `trainable: expected true or false for "${name}", got ${answer}.`;
      return fail("InvalidArgument", "onnx.load", text);
    }
    if (answer === found.isParameter) return found;
    return { isParameter: answer, reason: "the function that was given as trainable says so" };
  }

  #byFile(entry: StoredTensor): Verdict | undefined {
    const { parameters, buffers } = this.listed;
    const { name, isInitializer, slots } = entry;
    if (!slots.some((slot) => this.slots.has(slot))) {
      return { isParameter: false, reason: "no output depends on it" };
    }
    if (isInitializer && buffers?.has(name))
      return { isParameter: false, reason: "the file lists it as a buffer" };
    if (parameters === null) return undefined;
    const isParameter = name !== "" && parameters.has(name);
    const text = isParameter ? "lists it as a parameter" : "does not list it as a parameter";
    return { isParameter, reason: `the file ${text}` };
  }

  // Returns a tensor that is not in the state of the module; undefined for one that is.
  #constant(entry: StoredTensor): Value {
    const { name, slots, tensor, isInitializer } = entry;
    if (this.#isFixed(entry)) return hostOf(tensor);
    if (!isInitializer || tensor.type === "string") return constantOf(tensor);
    const uses = slots.map((slot) => this.slots.get(slot));
    if (uses.some((use) => use?.isUpdated) || this.listed.buffers?.has(name)) return undefined;
    if (tensor.type.startsWith("complex")) return undefined;
    const isSetting = uses.every((use) => use?.isSetting);
    const isUnread = uses.every((use) => use === undefined);
    const most = isFloating(tensor) && !isSetting ? Number(!isUnread) : kMostHostElements;
    return tensor.count <= most ? hostOf(tensor) : undefined;
  }
}

const kTrainable = /^(float|float16|bfloat16|double|complex64|complex128)$/;
