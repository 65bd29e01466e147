// Adds adapter layers to a model and removes them.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import type { LoraConfig } from "./config.js";
import { AdapterLayer, failForQuantized, isFloating } from "./layers/adapter_layer.js";
import { LoraConv2d } from "./layers/conv.js";
import { isEmbedding, LoraEmbedding } from "./layers/embedding.js";
import { isLinear, LoraLinear } from "./layers/linear.js";
import { ModulesToSave } from "./layers/modules_to_save.js";
import { LoraParameter } from "./layers/parameter.js";
import { isInLayers, isNamed } from "./match.js";

const { parametrize } = eg.nn.utils;

/** A layer with adapters, its name in files, and the weight that they can be merged into. */
export interface Adapted {
  readonly path: string;
  readonly layer: AdapterLayer;
  readonly weight: eg.Tensor;
  /** The module and the property that hold it. */
  readonly owner: eg.nn.Module;
  readonly property: string;
}

/** Returns the layers of a model that have adapters. */
export function adaptedIn(model: eg.nn.Module): Adapted[] {
  return model.namedModules().flatMap(([name, layer]) => {
    if (!(layer instanceof AdapterLayer)) return [];
    if (!(layer instanceof LoraParameter)) {
      const { weight } = layer as LoraLinear | LoraEmbedding | LoraConv2d;
      return [{ path: name, layer, weight, ...placeOf(model, name) }];
    }
    const parts = name.split(".");
    const property = parts.at(-2) as string;
    const before = parts.slice(0, -3).join(".");
    const owner = model.getSubmodule(before);
    const list = parametrizationsOf(owner, property);
    const path = storedPath(before, property);
    return [{ path, layer, weight: list.originals[0] as eg.Tensor, owner, property }];
  });
}

function parametrizationsOf(owner: eg.nn.Module, property: string) {
  const lists = (owner as unknown as { parametrizations: object }).parametrizations;
  return Reflect.get(lists, property) as InstanceType<typeof parametrize.ParametrizationList>;
}

// Files store the adapters of a layer's weight under the name of the layer.
const storedPath = (owner: string, property: string) =>
  property === "weight" && owner !== "" ? owner : [owner, property].filter(Boolean).join(".");

function placeOf(model: eg.nn.Module, path: string) {
  const parts = path.split(".");
  const property = parts.pop() as string;
  return { owner: model.getSubmodule(parts.join(".")), property };
}

/** Returns the fully trained modules of a model, with their places. */
export function savedModulesIn(model: eg.nn.Module) {
  return model.namedModules().flatMap(([path, module]) => {
    return module instanceof ModulesToSave ? [{ path, module, ...placeOf(model, path) }] : [];
  });
}

/** Adds the adapter layers that `config` asks for, unless they exist; returns all that it asks for. */
export function adapt(model: eg.nn.Module, config: LoraConfig): Adapted[] {
  const known = new Map(adaptedIn(model).map((adapted) => [adapted.path, adapted]));
  const wanted = new Set<string>();
  for (const target of targetsIn(model, config)) {
    wanted.add(target.path);
    if (!known.has(target.path)) target.adapt();
  }
  if (wanted.size === 0) failWithoutTargets(model, config);
  return adaptedIn(model).filter(({ path }) => wanted.has(path));
}

interface Target {
  readonly path: string;
  adapt(): void;
}

function targetsIn(model: eg.nn.Module, config: LoraConfig): Target[] {
  const isWanted = (path: string, module: eg.nn.Module | null) =>
    isChosen(path, module, config) &&
    !isNamed(path, config.excludeModules) &&
    isInLayers(path, config);
  const inside: eg.nn.Module[] = [];
  const layers = model.namedModules().flatMap(([path, module]): Target[] => {
    // Parts of an adapter or of a fully trained copy are not targets.
    if (inside.includes(module)) return [];
    const isHolder = module instanceof AdapterLayer || module instanceof ModulesToSave;
    if (isHolder) inside.push(...module.modules().slice(1));
    if (path === "" || module instanceof ModulesToSave || !isWanted(path, module)) return [];
    if (module instanceof AdapterLayer) return [{ path, adapt: () => {} }];
    const made = layerFor(module, config);
    if (made === null) return [];
    return [{ path, adapt: () => Object.assign(placeOf(model, path).owner, nameOf(path, made())) }];
  });
  const taken = new Set(layers.map(({ path }) => path));
  const parameters = model.namedParameters().flatMap(([name, parameter]): Target[] => {
    const { owner, property } = placeOf(model, name);
    const path = storedPath(name.slice(0, -property.length - 1), property);
    const isOwn = isLayer(owner) || inside.includes(owner) || parameter.ndim < 2;
    if (isOwn || taken.has(path) || name.includes("parametrizations.")) return [];
    if (!isWanted(path, null)) return [];
    const layer = () => new LoraParameter(parameter);
    return [
      { path, adapt: () => void parametrize.registerParametrization(owner, property, layer()) },
    ];
  });
  const before = adaptedIn(model).filter(({ layer }) => layer instanceof LoraParameter);
  const again = before.filter(({ path }) => isWanted(path, null));
  return [...layers, ...parameters, ...again.map(({ path }) => ({ path, adapt: () => {} }))];
}

const nameOf = (path: string, value: unknown) => ({ [path.split(".").at(-1) as string]: value });

const isLayer = (module: eg.nn.Module) =>
  isLinear(module) || isEmbedding(module) || module instanceof eg.nn.Conv2d;

// Heads, which "all-linear" skips.
const kHeads = /(?:^|\.)(?:lm_head|embed_out|proj_out|score|classifier)(?:\.|$)/;

function isChosen(path: string, module: eg.nn.Module | null, config: LoraConfig): boolean {
  const { targetModules, modulesToSave } = config;
  if (targetModules !== "all-linear") return isNamed(path, targetModules);
  const isMatrix = module !== null && (isLinear(module) || module instanceof LoraLinear);
  return isMatrix && !kHeads.test(path) && !isNamed(path, modulesToSave);
}

function layerFor(module: eg.nn.Module, config: LoraConfig): (() => AdapterLayer) | null {
  if (isLinear(module)) return () => new LoraLinear(module);
  if (config.useDora && isLayer(module)) {
    const name = module.constructor.name;
    fail(
      "InvalidArgument",
      "LoraConfig",
      `useDora is implemented for linear layers, not for ${name}.`,
    );
  }
  if (isEmbedding(module)) return () => new LoraEmbedding(module);
  if (!(module instanceof eg.nn.Conv2d)) return null;
  if (module.groups !== 1) {
    fail("InvalidArgument", "LoraConfig", "a Conv2d with groups cannot be adapted.");
  }
  return () => new LoraConv2d(module);
}

function failWithoutTargets(model: eg.nn.Module, { targetModules }: LoraConfig): never {
  const names = model
    .namedModules()
    .flatMap(([name, module]) => (isLinear(module) ? [name.split(".").at(-1) as string] : []));
  const some = [...new Set(names)].slice(0, 12).join(", ");
  return fail(
    "InvalidArgument",
    "LoraConfig",
    `targetModules: ${JSON.stringify(targetModules)} names no layer of the ${model.constructor.name}. Its linear layers are called ${some || "nothing"}.`,
  );
}

function isQuantized(module: eg.nn.Module): boolean {
  const { weight } = module as { weight?: unknown };
  return weight instanceof eg.Tensor && !isFloating(weight);
}

/** Adds a ModulesToSave for each module in `wanted`, unless it exists; returns all of them. */
export function holdModules(model: eg.nn.Module, wanted: readonly string[]): ModulesToSave[] {
  const wrappers: ModulesToSave[] = [];
  for (const [path, module] of model.namedModules()) {
    const isInside = /(?:^|\.)(?:original_module|modules_to_save)(?:\.|$)/.test(path);
    if (path === "" || isInside || !isNamed(path, wanted)) continue;
    if (module.modules().some((module) => module instanceof AdapterLayer)) {
      const message = `modulesToSave: "${path}" has adapters, so it cannot be fully trained.`;
      fail("InvalidArgument", "LoraConfig", message);
    }
    if (module.modules().some(isQuantized))
      failForQuantized(`fully trained, as modulesToSave asks for "${path}"`);
    const holder = module instanceof ModulesToSave ? module : new ModulesToSave(module);
    if (holder !== module) Object.assign(placeOf(model, path).owner, nameOf(path, holder));
    wrappers.push(holder);
  }
  if (wrappers.length === 0 && wanted.length > 0) {
    const names = wanted.join(", ");
    fail("InvalidArgument", "LoraConfig", `modulesToSave: the model has no module ${names}.`);
  }
  return wrappers;
}

/** Removes the adapter layers of a model; its weights stay unchanged. */
export function takeOff(model: eg.nn.Module): void {
  for (const { layer, owner, property } of adaptedIn(model)) {
    layer.forgetKept();
    if (layer instanceof LoraParameter) {
      parametrize.removeParametrizations(owner, property, { leaveParametrized: false });
    } else {
      Object.assign(owner, { [property]: (layer as LoraLinear).base_layer });
    }
  }
  for (const { owner, property, module } of savedModulesIn(model)) {
    Object.assign(owner, { [property]: module.chosen });
  }
}
