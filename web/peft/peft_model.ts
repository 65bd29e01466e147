// A model with adapters.

import * as eg from "edgegrad";
import { describe, fail } from "../errors/errors.js";
import { LoraConfig } from "./config.js";
import {
  type AdapterFiles,
  biasesOf,
  copyTensors,
  readAdapter,
  storedTensors,
  writeAdapter,
} from "./files.js";
import { isNamed, valueFor } from "./match.js";
import { adapt, adaptedIn, holdModules, savedModulesIn, takeOff } from "./targets.js";

const kWhere = "PeftModel";

/** The number of trainable and of all parameters. */
export interface ParameterCounts {
  /** The number of elements that require a gradient. */
  readonly trainable: number;
  /** The number of all elements. */
  readonly all: number;
}

/** Options of `PeftModel.fromPretrained` and `loadAdapter`. */
export interface AdapterOptions {
  /** Whether the adapter is trainable; default false. */
  readonly isTrainable?: boolean | undefined;
  /** The name of the adapter; default "default". */
  readonly adapterName?: string | undefined;
}

type AnyModule = eg.nn.Module & { forward(...inputs: never[]): unknown };

interface Generator {
  generate?(...given: unknown[]): unknown;
}

type GenerateArguments<M> = M extends { generate(...given: infer Given): unknown }
  ? Given
  : never[];
type GenerateResult<M> = M extends { generate(...given: never[]): infer Result } ? Result : never;

/** The container of the base model, which gives its parameters PEFT's names. */
class LoraModel<M extends AnyModule> extends eg.nn.Module {
  model: M;

  constructor(model: M) {
    super();
    this.model = model;
  }

  override forward(...inputs: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    return this.model.call(...inputs) as ReturnType<M["forward"]>;
  }
}

interface Adapter {
  readonly config: LoraConfig;
  /** The values of the adapter_config.json that it was loaded from. */
  readonly values: Readonly<Record<string, unknown>>;
  isTrainable: boolean;
}

/** A model with adapters. Its own parameters are frozen, and it is called like the model. */
export class PeftModel<M extends AnyModule = AnyModule> extends eg.nn.Module {
  base_model: LoraModel<M>;
  /** The adapters by name. @internal */
  readonly adapters: Record<string, Adapter> = {};
  /** The names of the active adapters. */
  activeAdapters: readonly string[] = [];

  /** Creates a model with one new adapter; `getPeftModel` does the same. */
  constructor(model: M, config: LoraConfig, adapterName = "default") {
    super();
    if (!(model instanceof eg.nn.Module)) {
      fail("InvalidArgument", kWhere, `expected a module, got ${describe(model)}.`);
    }
    if (model instanceof PeftModel || adaptedIn(model).length > 0) {
      fail("InvalidArgument", kWhere, "the model has adapters: use addAdapter() of its PeftModel.");
    }
    this.base_model = new LoraModel(model);
    const names = model.parameters();
    const trained = names.filter(({ requiresGrad }) => requiresGrad);
    for (const parameter of names) parameter.requiresGrad = false;
    try {
      this.addAdapter(adapterName, config);
    } catch (error) {
      takeOff(model);
      for (const parameter of trained) parameter.requiresGrad = true;
      throw error;
    }
    this.train(model.training);
    this.setAdapter(adapterName);
  }

  /** Loads a saved adapter onto a model: `source` is a folder with adapter_config.json and adapter_model.safetensors. */
  static async fromPretrained<M extends AnyModule>(
    model: M,
    source: eg.io.FolderSource,
    options: AdapterOptions = {},
  ): Promise<PeftModel<M>> {
    const { isTrainable = false, adapterName = "default" } = checkedOptions(options);
    const files = await readAdapter(source);
    const made = new PeftModel(model, files.config, adapterName);
    try {
      made.fillAdapter(adapterName, files, isTrainable);
    } catch (error) {
      takeOff(model);
      throw error;
    } finally {
      disposeAll(files);
    }
    return made;
  }

  /** The base model. */
  get model(): M {
    return this.base_model.model;
  }

  /** The configs of the adapters by name. */
  get peftConfig(): Record<string, LoraConfig> {
    return Object.fromEntries(
      Object.entries(this.adapters).map(([name, { config }]) => [name, config]),
    );
  }

  override forward(...inputs: Parameters<M["forward"]>): ReturnType<M["forward"]> {
    return this.base_model.call(...inputs) as ReturnType<M["forward"]>;
  }

  /** Calls generate() of the base model, if it has one. */
  generate(...given: GenerateArguments<M>): GenerateResult<M> {
    const { model } = this as unknown as { model: Generator };
    if (typeof model.generate !== "function") {
      fail("InvalidArgument", kWhere, `a ${model.constructor.name} does not generate.`);
    }
    return model.generate(...given) as GenerateResult<M>;
  }

  /** Adds a new adapter, which setAdapter() activates. */
  addAdapter(name: string, config: LoraConfig): void {
    checkName(name, this.adapters);
    if (!(config instanceof LoraConfig)) {
      fail("InvalidArgument", kWhere, `expected a LoraConfig, got ${describe(config)}.`);
    }
    if (config.bias !== "none" && Object.keys(this.adapters).length > 0) {
      fail(
        "InvalidArgument",
        kWhere,
        `bias: adapters share biases, so it must be "none" for several.`,
      );
    }
    try {
      this.addTo(this.model, name, config);
    } catch (error) {
      this.forget(name);
      throw error;
    }
    this.adapters[name] = { config, values: {}, isTrainable: true };
    this.train(this.model.training);
    this.refresh();
  }

  /** Loads an adapter and adds it; setAdapter() activates it. */
  async loadAdapter(
    source: eg.io.FolderSource,
    name: string,
    options: Omit<AdapterOptions, "adapterName"> = {},
  ): Promise<void> {
    const { isTrainable = false } = checkedOptions(options);
    checkName(name, this.adapters);
    const files = await readAdapter(source);
    try {
      this.addAdapter(name, files.config);
      this.fillAdapter(name, files, isTrainable);
    } catch (error) {
      if (Object.hasOwn(this.adapters, name)) this.deleteAdapter(name);
      throw error;
    } finally {
      disposeAll(files);
    }
  }

  /** Removes an adapter. */
  deleteAdapter(name: string): void {
    this.adapterNamed(name);
    for (const { layer } of adaptedIn(this.model)) {
      if (layer.merged.includes(name)) {
        fail("InvalidArgument", kWhere, `the adapter "${name}" is merged: call unmerge() first.`);
      }
    }
    this.forget(name);
    delete this.adapters[name];
    this.activeAdapters = this.activeAdapters.filter((adapter) => adapter !== name);
    this.refresh();
  }

  /** Activates one or more adapters instead of the previous ones; only these are trained. */
  setAdapter(names: string | readonly string[]): void {
    const wanted = [names].flat() as string[];
    for (const name of wanted) this.adapterNamed(name);
    this.activeAdapters = wanted;
    this.refresh();
  }

  /** Calls `fn` with all adapters disabled, and returns its result; a promise is awaited. */
  disableAdapter<T>(fn: () => T): T {
    if (typeof fn !== "function") {
      fail("InvalidArgument", "disableAdapter", `expected a function, got ${describe(fn)}.`);
    }
    const merged = adaptedIn(this.model).some(({ layer }) => layer.merged.length > 0);
    if (merged)
      fail("InvalidArgument", "disableAdapter", "an adapter is merged: call unmerge() first.");
    this.setDisabled(true);
    let result: T;
    try {
      result = fn();
    } catch (error) {
      this.setDisabled(false);
      throw error;
    }
    if (!isPromise(result)) {
      this.setDisabled(false);
      return result;
    }
    return Promise.resolve(result).finally(() => this.setDisabled(false)) as T;
  }

  /** Merges the active adapters into the weights, which makes calls as fast as those of the base model. */
  merge(): void {
    const adapted = adaptedIn(this.model);
    const counts = new Map<eg.Tensor, number>();
    for (const module of this.model.modules()) {
      const { weight } = module as { weight?: unknown };
      if (weight instanceof eg.Tensor && !adapted.some(({ layer }) => layer === module)) {
        counts.set(weight, (counts.get(weight) ?? 0) + 1);
      }
    }
    const shared = adapted.find(({ weight }) => (counts.get(weight) ?? 0) > 1);
    if (shared !== undefined) {
      const message = `"${shared.path}" shares its weight with another layer, which merging would change too.`;
      fail("InvalidArgument", "merge", message);
    }
    for (const { layer, weight } of adapted) layer.merge(this.activeAdapters, weight);
  }

  /** Undoes merge(). */
  unmerge(): void {
    for (const { layer, weight } of adaptedIn(this.model)) layer.unmerge(weight);
  }

  /** Merges the active adapters and returns the base model, whose parameters stay frozen. */
  mergeAndUnload(): M {
    this.merge();
    return this.unload();
  }

  /** Removes all adapters and returns the base model. */
  unload(): M {
    takeOff(this.model);
    return this.model;
  }

  /** Returns the number of trainable and of all parameters. */
  trainableParameters(): ParameterCounts {
    const count = (parameters: readonly eg.Tensor[]) =>
      parameters.reduce((sum, { numel }) => sum + numel, 0);
    const all = this.parameters();
    return {
      trainable: count(all.filter(({ requiresGrad }) => requiresGrad)),
      all: count(all),
    };
  }

  /** Returns the files of an adapter by name: adapter_config.json and adapter_model.safetensors. */
  savePretrained(
    options: { readonly adapterName?: string | undefined } = {},
  ): Promise<Record<string, eg.Bytes>> {
    const { adapterName = this.activeAdapters[0] ?? "default" } = checkedOptions(options);
    const { config, values } = this.adapterNamed(adapterName);
    const isTransposed = adaptedIn(this.model).some(
      ({ layer }) =>
        "base_layer" in layer && (layer.base_layer as { fanInFanOut?: boolean }).fanInFanOut,
    );
    const written = {
      base_model_name_or_path: null,
      ...values,
      ...config.toValues(),
      fan_in_fan_out: isTransposed,
      inference_mode: true,
    };
    return writeAdapter(storedTensors(this.model, adapterName, config), written);
  }

  /**
   * Returns an adapter as a GGUF file, which llama.cpp applies to the GGUF file of the model. Rejects with InvalidArgument for DoRA, modulesToSave and
   * trained biases, and for models and layers that such files do not have.
   */
  async saveGguf(options: { readonly adapterName?: string | undefined } = {}): Promise<eg.Bytes> {
    const { adapterName = this.activeAdapters[0] ?? "default" } = checkedOptions(options);
    const { config } = this.adapterNamed(adapterName);
    const { ggufOf } = await import("./gguf.js");
    return ggufOf(this.model, adapterName, config);
  }

  private addTo(model: M, name: string, config: LoraConfig): void {
    const saved = config.modulesToSave ?? [];
    for (const { path, layer } of adapt(model, config)) {
      if (isNamed(path, saved)) continue;
      const r = valueFor(path, config.rankPattern, config.r);
      const alpha = valueFor(path, config.alphaPattern, config.loraAlpha);
      layer.add(name, { r, scaling: config.scaling(r, alpha), config });
    }
    for (const module of holdModules(model, saved)) module.add(name);
  }

  // Removes an adapter from the layers.
  private forget(name: string): void {
    for (const { layer } of adaptedIn(this.model)) layer.remove(name);
    for (const { module } of savedModulesIn(this.model)) {
      if (module.modules_to_save.has(name)) module.modules_to_save.pop(name);
    }
  }

  private fillAdapter(
    name: string,
    { tensors, values, config }: AdapterFiles,
    isTrainable: boolean,
  ): void {
    copyTensors(storedTensors(this.model, name, config), tensors);
    this.adapters[name] = { config, values, isTrainable };
    this.refresh();
  }

  private adapterNamed(name: string): Adapter {
    const adapter = Object.hasOwn(this.adapters, name) ? this.adapters[name] : undefined;
    if (adapter !== undefined) return adapter;
    const names = Object.keys(this.adapters).join(", ");
    return fail(
      "InvalidArgument",
      kWhere,
      `there is no adapter ${describe(name)}; there are ${names}.`,
    );
  }

  // Updates which adapters the layers apply, and which parameters are trained.
  private refresh(): void {
    const { activeAdapters: active, model } = this;
    const adapted = adaptedIn(model);
    for (const { layer } of adapted) {
      layer.active = active;
      for (const name of Object.keys(layer.settings)) {
        const isTrained = this.isTrained(name);
        for (const parameter of Object.values(layer.storedTensors(name)))
          parameter.requiresGrad = isTrained;
      }
    }
    for (const { module } of savedModulesIn(model)) {
      module.active = active;
      for (const [name, copy] of module.modules_to_save.items()) {
        copy.requiresGrad_(this.isTrained(name));
      }
    }
    for (const [name, { config }] of Object.entries(this.adapters)) {
      for (const [, bias] of biasesOf(model, adapted, config)) {
        bias.requiresGrad = this.isTrained(name);
      }
    }
  }

  private isTrained(name: string): boolean {
    return this.activeAdapters.includes(name) && this.adapters[name]?.isTrainable === true;
  }

  private setDisabled(isDisabled: boolean): void {
    for (const { layer } of adaptedIn(this.model)) layer.isDisabled = isDisabled;
    for (const { module } of savedModulesIn(this.model)) module.isDisabled = isDisabled;
  }
}

/** Adds a new adapter to a model, which can be any module, and freezes the model's parameters. */
export function getPeftModel<M extends AnyModule>(
  model: M,
  config: LoraConfig,
  adapterName = "default",
): PeftModel<M> {
  return new PeftModel(model, config, adapterName);
}

// The name becomes a property of modules and a part of dotted names.
function checkName(name: unknown, adapters: object): asserts name is string {
  if (typeof name !== "string" || !/^[A-Za-z][\w-]*$/.test(name) || name in Object.prototype) {
    const expected = "a name of letters, digits, - and _";
    fail("InvalidArgument", kWhere, `adapterName: expected ${expected}, got ${describe(name)}.`);
  }
  if (Object.hasOwn(adapters, name)) {
    fail("InvalidArgument", kWhere, `there is an adapter "${name}": delete it first.`);
  }
}

function checkedOptions<Given extends AdapterOptions>(options: Given): Given {
  const known = ["isTrainable", "adapterName"];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const names = known.join(", ");
    fail("InvalidArgument", kWhere, `unknown option "${unknown}"; the options are ${names}.`);
  }
  if (options.isTrainable !== undefined && typeof options.isTrainable !== "boolean") {
    fail("InvalidArgument", kWhere, "isTrainable: expected true or false.");
  }
  return options;
}

function disposeAll({ tensors }: AdapterFiles): void {
  for (const tensor of Object.values(tensors)) tensor.dispose();
}

// A promise may come from another realm.
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
