// The base class of layers with adapters.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { LoraConfig } from "../config.js";

/** The settings of an adapter in one layer. */
export interface AdapterSettings {
  readonly r: number;
  readonly scaling: number;
  readonly config: LoraConfig;
}

/** A module whose result adapters change. */
export abstract class AdapterLayer extends eg.nn.Module {
  /** The adapters of this layer. */
  readonly settings: Record<string, AdapterSettings> = {};
  /** The active adapters. */
  active: readonly string[] = [];
  /** The adapters that are merged into the weight. */
  merged: readonly string[] = [];
  /** Whether adapters are disabled. */
  isDisabled = false;
  /** The weight before DoRA adapters were merged. */
  kept: eg.Tensor | null = null;

  /** The adapters that a call has to apply. */
  protected get applied(): string[] {
    if (this.isDisabled || this.merged.length > 0) return [];
    return this.active.filter((name) => Object.hasOwn(this.settings, name));
  }

  /** Adds an adapter with new parameters. */
  abstract add(name: string, settings: AdapterSettings): void;

  /** Removes an adapter. */
  remove(name: string): void {
    delete this.settings[name];
    for (const part of this.children()) {
      if (part instanceof eg.nn.ModuleDict && part.has(name)) part.pop(name);
    }
  }

  /** Returns the tensors of an adapter by their names in files. */
  abstract storedTensors(name: string): Record<string, eg.nn.Parameter>;

  /** Returns the difference that an adapter makes to the weight; with DoRA it depends on the weight. */
  abstract change(name: string, weight: eg.Tensor): eg.Tensor;

  /** Merges adapters into `weight`, so that calls need not apply them; keeps a copy of it only if they scale it. */
  merge(names: readonly string[], weight: eg.Tensor): void {
    const own = names.filter((name) => Object.hasOwn(this.settings, name));
    if (this.merged.length > 0 || own.length === 0) return;
    if (!isFloating(weight)) failForQuantized("merged");
    eg.noGrad(() => {
      if (own.some((name) => this.settingsOf(name).config.useDora)) {
        this.kept = eg.keep(weight.detach().clone());
      }
      for (const name of own) eg.scope(() => weight.add_(this.change(name, weight)));
    });
    this.merged = own;
  }

  /** Undoes merge(). */
  unmerge(weight: eg.Tensor): void {
    eg.noGrad(() => {
      if (this.kept !== null) weight.copy_(this.kept);
      else for (const name of this.merged) eg.scope(() => weight.sub_(this.change(name, weight)));
    });
    this.forgetKept();
    this.merged = [];
  }

  /** Frees the copy that merge() keeps. */
  forgetKept(): void {
    this.kept?.dispose();
    this.kept = null;
  }

  protected settingsOf(name: string): AdapterSettings {
    return (
      this.settings[name] ??
      fail("InvalidArgument", "PeftModel", `the layer has no adapter "${name}".`)
    );
  }
}

/** Whether a weight has a floating-point dtype, so that adapters can be merged into it. */
export const isFloating = (weight: eg.Tensor) => /float/.test(weight.dtype);

/** Throws for an operation that quantized weights do not support. */
export function failForQuantized(what: string): never {
  return fail("InvalidArgument", "PeftModel", `quantized weights cannot be ${what}.`);
}

/** Returns a module of a ModuleDict; faster than get(). */
export function partOf<M extends eg.nn.Module>(parts: eg.nn.ModuleDict<M>, name: string): M {
  return Reflect.get(parts, name) as M;
}

/** A module that holds one parameter, so that a ModuleDict can hold it by the name of the adapter. */
export class Weight extends eg.nn.Module {
  weight: eg.nn.Parameter;

  constructor(values: eg.Tensor) {
    super();
    this.weight = new eg.nn.Parameter(values);
  }

  override forward(): eg.Tensor {
    return this.weight;
  }
}

type Factors = eg.nn.ModuleDict<eg.nn.Module & { readonly weight: eg.nn.Parameter }>;

/** Returns the two factors of an adapter by their names in files. */
export function storedFactors(
  a: Factors,
  b: Factors,
  name: string,
): Record<string, eg.nn.Parameter> {
  return {
    "lora_A.weight": partOf(a, name).weight,
    "lora_B.weight": partOf(b, name).weight,
  };
}

/** Returns the scaled product of the two factors of an adapter, in the shape and dtype of a weight; dimensions after the first are flattened. */
export function productOf(
  factors: Readonly<Record<string, eg.Tensor>>,
  { scaling }: AdapterSettings,
  { shape, dtype }: eg.Tensor,
): eg.Tensor {
  const [a, b] = [factors["lora_A.weight"], factors["lora_B.weight"]] as [eg.Tensor, eg.Tensor];
  return eg.matmul(b.flatten(1), a.flatten(1)).mul(scaling).reshape(shape).to(dtype);
}

/** Initializes the two factors of new adapters: their product is zero unless the config initializes both at random. */
export function drawFactors(
  a: eg.nn.Parameter,
  b: eg.nn.Parameter,
  { r, config: { initLoraWeights } }: AdapterSettings,
): void {
  const spread = { a: Math.sqrt(5) };
  if (initLoraWeights === "gaussian") eg.nn.init.normal_(a, 0, 1 / r);
  else eg.nn.init.kaimingUniform_(a, spread);
  if (initLoraWeights === false) eg.nn.init.kaimingUniform_(b, spread);
  else eg.nn.init.zeros_(b);
}
