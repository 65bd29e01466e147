// What all layers with adapters have in common.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { LoraConfig } from "../config.js";

/** What an adapter is in one layer. */
export interface AdapterSettings {
  readonly r: number;
  readonly scaling: number;
  readonly config: LoraConfig;
}

/** A module that adapters change the result of. */
export abstract class AdapterLayer extends eg.nn.Module {
  /** The adapters of this layer. */
  readonly settings: Record<string, AdapterSettings> = {};
  /** The adapters that are applied. */
  active: readonly string[] = [];
  /** The adapters that have been added to the weight. */
  merged: readonly string[] = [];
  /** Whether adapters are left out. */
  isDisabled = false;
  /** The weight before DoRA adapters were merged. */
  kept: eg.Tensor | null = null;

  /** The adapters that a call has to add to the result. */
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
  abstract stored(name: string): Record<string, eg.nn.Parameter>;

  /** Returns what an adapter adds to the weight, in its shape; DoRA also changes the weight itself. */
  abstract change(name: string, weight: eg.Tensor): eg.Tensor;

  /** Adds adapters to `weight`, so that a call need not; keeps a copy of it only if they scale it. */
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

  /** Frees the copy that merge() has kept. */
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

/** Whether a weight has floats, to which others can be added. */
export const isFloating = (weight: eg.Tensor) => /float/.test(weight.dtype);

/** Throws for what quantized weights do not allow. */
export function failForQuantized(what: string): never {
  return fail("InvalidArgument", "PeftModel", `quantized weights cannot be ${what}.`);
}

/** Returns a part of a ModuleDict, which a call needs quickly. */
export function partOf<M extends eg.nn.Module>(parts: eg.nn.ModuleDict<M>, name: string): M {
  return Reflect.get(parts, name) as M;
}

/** A parameter as a module, so that adapters can be kept by name. */
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

/** Draws the two factors of new adapters: the product is zero unless the config wants both at random. */
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
