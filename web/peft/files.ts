// Reads and writes the files of an adapter in PEFT's format.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import { LoraConfig } from "./config.js";
import type { ModulesToSave } from "./layers/modules_to_save.js";
import { type Adapted, adaptedIn, savedModulesIn } from "./targets.js";

const kWhere = "PeftModel.fromPretrained";
const kPrefix = "base_model.model.";

/** The contents of an adapter's files. */
export interface AdapterFiles {
  readonly config: LoraConfig;
  readonly values: Readonly<Record<string, unknown>>;
  readonly tensors: Readonly<Record<string, eg.Tensor>>;
}

/** Reads the files of an adapter. */
export async function readAdapter(source: eg.io.FolderSource): Promise<AdapterFiles> {
  const folder = await eg.io.openFolder(source);
  const bytes = await folder.bytes("adapter_config.json");
  if (bytes === null) fail("InvalidArgument", kWhere, "there is no adapter_config.json.");
  let values: unknown;
  try {
    values = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    fail(
      "InvalidArgument",
      kWhere,
      `adapter_config.json is not JSON: ${(error as Error).message}.`,
    );
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    fail("InvalidArgument", kWhere, "adapter_config.json is not an object.");
  }
  const config = LoraConfig.fromValues(values as Record<string, unknown>);
  const reader = await folder.openSafetensors("adapter_model.safetensors");
  if (reader === null) fail("InvalidArgument", kWhere, "there is no adapter_model.safetensors.");
  const tensors = new Map<string, eg.Tensor>();
  try {
    for (const key of reader.keys) tensors.set(key, await reader.tensor(key));
  } finally {
    await reader.close();
  }
  return {
    config,
    values: values as Record<string, unknown>,
    tensors: Object.fromEntries(tensors),
  };
}

/** Returns the parameters of an adapter by their names in files. */
export function storedTensors(
  model: eg.nn.Module,
  name: string,
  config: LoraConfig,
): Record<string, eg.Tensor> {
  const adapted = adaptedIn(model).filter(({ layer }) => Object.hasOwn(layer.settings, name));
  const saved = savedModulesIn(model).filter(({ module }) => module.modules_to_save.has(name));
  return Object.fromEntries([
    ...adapted.flatMap(ofLayer(name)),
    ...saved.flatMap(({ path, module }) => ofModule(path, module, name)),
    ...biasesOf(model, adapted, config),
  ]);
}

const ofLayer =
  (name: string) =>
  ({ path, layer }: Adapted): [string, eg.Tensor][] =>
    Object.entries(layer.storedTensors(name)).map(([own, tensor]) => [
      `${kPrefix}${path}.${own}`,
      tensor,
    ]);

function ofModule(path: string, module: ModulesToSave, name: string): [string, eg.Tensor][] {
  const copy = module.modules_to_save.get(name);
  return [...copy.namedParameters(), ...copy.namedBuffers()].map(([own, tensor]) => [
    `${kPrefix}${path}.${own}`,
    tensor,
  ]);
}

/** Returns the biases that are trained with an adapter, by their names in files. */
export function biasesOf(
  model: eg.nn.Module,
  adapted: readonly Adapted[],
  { bias }: LoraConfig,
): [string, eg.Tensor][] {
  if (bias === "none") return [];
  const ofLayers = new Set(adapted.map(({ path }) => `${path}.base_layer.bias`));
  return model
    .namedParameters()
    .filter(([path]) => (bias === "all" ? /(?:^|\.)bias$/.test(path) : ofLayers.has(path)))
    .filter(([path]) => !/(?:^|\.)(?:original_module|modules_to_save)\./.test(path))
    .map(([path, parameter]) => [kPrefix + path, parameter]);
}

/** Copies the tensors of a file into the parameters of an adapter; throws unless names and shapes match. */
export function copyTensors(
  targets: Readonly<Record<string, eg.Tensor>>,
  given: Readonly<Record<string, eg.Tensor>>,
): void {
  const found = new Map(
    Object.entries(given).map(([key, tensor]) => [currentName(key, targets), tensor]),
  );
  const missing = Object.keys(targets).filter((key) => !found.has(key));
  const unknown = [...found.keys()].filter((key) => !Object.hasOwn(targets, key));
  if (missing.length + unknown.length > 0) {
    const problems = [
      missing.length > 0 ? `it lacks ${listOf(missing)}` : [],
      unknown.length > 0 ? `the model has no ${listOf(unknown)}` : [],
    ].flat();
    fail("InvalidArgument", kWhere, `the adapter does not fit the model: ${problems.join("; ")}.`);
  }
  for (const [key, target] of Object.entries(targets)) {
    const { shape } = found.get(key) as eg.Tensor;
    if (String(shape) !== String(target.shape)) {
      const message = `${key} has the shape [${shape}] in the file and [${target.shape}] in the model.`;
      fail("ShapeMismatch", kWhere, message);
    }
  }
  eg.noGrad(() => {
    for (const [key, target] of Object.entries(targets)) target.copy_(found.get(key) as eg.Tensor);
  });
}

// Newer files append ".weight" to the magnitudes of DoRA, and older ones omit ".base_layer" before a bias.
function currentName(key: string, targets: Readonly<Record<string, eg.Tensor>>): string {
  const candidates = [
    key,
    key.replace(/\.lora_magnitude_vector\.weight$/, ".lora_magnitude_vector"),
    key.replace(/\.bias$/, ".base_layer.bias"),
  ];
  return candidates.find((candidate) => Object.hasOwn(targets, candidate)) ?? key;
}

function listOf(names: readonly string[]): string {
  const first = names.slice(0, 4).join(", ");
  return names.length > 4 ? `${first} and ${names.length - 4} more` : first;
}

/** Returns the files of an adapter. */
export async function writeAdapter(
  tensors: Readonly<Record<string, eg.Tensor>>,
  values: Readonly<Record<string, unknown>>,
): Promise<Record<string, eg.Bytes>> {
  const text = `${JSON.stringify(values, null, 2)}\n`;
  const read = await Promise.all(
    Object.entries(tensors).map(async ([key, tensor]) => [key, await onCpu(tensor)] as const),
  );
  try {
    return {
      "adapter_config.json": new TextEncoder().encode(text),
      "adapter_model.safetensors": eg.io.saveSafetensors(Object.fromEntries(read), {
        metadata: { format: "pt" },
      }),
    };
  } finally {
    for (const [, tensor] of read) tensor.dispose();
  }
}

/** Returns a tensor on the CPU; reads without blocking, which the main thread of a page is not allowed to do. */
export async function onCpu(tensor: eg.Tensor): Promise<eg.Tensor> {
  if (tensor.device === "cpu") return tensor.detach();
  const { shape, dtype } = tensor;
  return eg.tensor(await tensor.detach().float().data(), { shape }).to(dtype);
}
