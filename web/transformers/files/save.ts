// Writes the files of a model in the format that Hugging Face's libraries read.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { ConfigValues } from "../config/config.js";
import { constantOf } from "./constants.js";
import { type FileNames, tiedTo } from "./names.js";

/** A model to save, with what it keeps from the files that it was loaded from. */
export interface SavedModel extends eg.nn.Module {
  readonly config: ConfigValues;
  readonly generationConfig: ConfigValues;
  readonly tied: Readonly<Record<string, string>>;
  readonly tiedHead: string | null;
  readonly dtype: eg.DType;
  readonly fileNames: FileNames;
  untiedHead(weight: eg.Tensor): eg.Tensor;
}

/** Returns the files of a model by name. */
export async function savedFiles(model: SavedModel): Promise<Record<string, eg.Bytes>> {
  const { config, generationConfig } = model;
  if (model.buffers().some(({ dtype }) => dtype === "uint8")) {
    const advice = "save its adapter instead, which fits the model without quantization too";
    fail("InvalidArgument", "savePretrained", `the weights are quantized: ${advice}.`);
  }
  return {
    "config.json": jsonBytes({
      ...withDtype(config, model.dtype),
      ...(looseHead(model) !== null && { tie_word_embeddings: false }),
    }),
    ...(Object.keys(generationConfig).length > 0 && {
      "generation_config.json": jsonBytes(generationConfig),
    }),
    "model.safetensors": await weightsOf(model),
  };
}

/** Returns the bytes of a JSON file. */
export function jsonBytes(value: unknown): eg.Bytes {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

// The dtype that config.json declares has to be that of the written file.
function withDtype(config: Readonly<Record<string, unknown>>, dtype: string) {
  const dtypeKeys = ["torch_dtype", "dtype"].filter((key) => typeof config[key] === "string");
  return { ...config, ...Object.fromEntries(dtypeKeys.map((key) => [key, dtype])) };
}

// Training can put other parameters in the place of tied ones: a copy of the head that an adapter's modulesToSave has trained.
const isLoose = (model: SavedModel, name: string) =>
  model.getParameter(name) !== model.getParameter(model.tied[name] as string);

function looseHead(model: SavedModel): string | null {
  const { tiedHead } = model;
  return tiedHead !== null && isLoose(model, tiedHead) ? tiedHead : null;
}

async function weightsOf(model: SavedModel): Promise<eg.Bytes> {
  const { tensors, omitted, metadata } = model.fileNames;
  const state = model.stateDict();
  const head = looseHead(model);
  const made: eg.Tensor[] = [];
  const valueAt = (name: string): eg.Tensor => {
    if (name !== head) return state[model.tied[name] ?? name] as eg.Tensor;
    const value = eg.noGrad(() => model.untiedHead(state[name] as eg.Tensor));
    made.push(value);
    return value;
  };
  const named = new Set(Object.values(tensors));
  const isWritten = (name: string) =>
    named.has(name) ||
    (Object.hasOwn(model.tied, name) && name !== head) ||
    tiedTo(model.tied, name).some((tied) => tied !== head && named.has(tied));
  const others = Object.keys(state).filter((name) => !isWritten(name));
  try {
    const dict = Object.fromEntries([
      ...Object.entries(tensors).map(([key, name]) => [key, valueAt(name)] as const),
      ...others.map((name) => [name, valueAt(name)] as const),
      ...Object.entries(omitted).map(([key, value]) => {
        const tensor = eg.scope(() => constantOf(key, value));
        made.push(tensor);
        return [key, tensor] as const;
      }),
    ]);
    return await bytesOf(dict, metadata);
  } finally {
    for (const tensor of [...made, ...Object.values(state)]) tensor.dispose();
  }
}

/** Returns a safetensors file of tensors on any device, which are read without blocking. */
export async function bytesOf(
  dict: Readonly<Record<string, eg.Tensor>>,
  metadata: Readonly<Record<string, string>>,
): Promise<eg.Bytes> {
  if (Object.values(dict).every(({ device }) => device === "cpu")) {
    return eg.io.saveSafetensors(dict, { metadata });
  }
  const pieces: eg.Bytes[] = [];
  const stream = new WritableStream<eg.Bytes>({ write: (piece) => void pieces.push(piece) });
  await eg.io.saveSafetensors(dict, stream, { metadata });
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
