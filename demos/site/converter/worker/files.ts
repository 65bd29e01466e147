// Files of models and weights, recognized by their first bytes, or else by their names.

import * as eg from "edgegrad";
import { inspect, load, type OnnxDescription, type OnnxModule } from "edgegrad/onnx";
import { errorText } from "../../shared/printed.js";
import type { Format, Kind, Opened, TensorRow } from "../messages.js";

/** An open file. */
export interface OpenFile {
  readonly kind: Kind;
  readonly file: File;
  /** The files beside an ONNX model. */
  readonly beside: Readonly<Record<string, File>>;
  readonly description: OnnxDescription | null;
  readonly module: OnnxModule | null;
  readonly problem: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** What was in a file of weights. */
  readonly value: unknown;
}

const kZip = [0x50, 0x4b, 3, 4];
const kPickle = [0x80, 2];
const kBrace = 0x7b;
const kNames: Readonly<Record<Kind, string>> = {
  onnx: ".onnx, .pt or .safetensors file",
  torch: ".pt file",
  safetensors: ".safetensors file",
};

/** Opens a file; throws a sentence for the visitor if it is of no known kind or damaged. */
export async function openFile(file: File, others: readonly File[]): Promise<OpenFile> {
  const kind = await kindOf(file);
  const beside = Object.fromEntries(others.map((other) => [other.name, other]));
  const empty = {
    kind,
    file,
    beside,
    description: null,
    module: null,
    problem: null,
    metadata: {},
    value: null,
  };
  try {
    if (kind === "onnx") return { ...empty, ...(await openModel(file, beside)) };
    if (kind === "torch") return { ...empty, value: await eg.io.loadTorch(file) };
    return { ...empty, ...(await openSafetensors(file)) };
  } catch (error) {
    throw new Error(`${file.name} is no ${kNames[kind]} that can be opened. ${errorText(error)}`);
  }
}

async function kindOf(file: File): Promise<Kind> {
  const bytes = new Uint8Array(await file.slice(0, 9).arrayBuffer());
  const starts = (prefix: readonly number[]) => prefix.every((byte, i) => bytes[i] === byte);
  if (starts(kZip) || starts(kPickle) || /\.pth?$/i.test(file.name)) return "torch";
  return bytes[8] === kBrace || /\.safetensors$/i.test(file.name) ? "safetensors" : "onnx";
}

async function openModel(file: File, beside: Readonly<Record<string, File>>) {
  const description = await inspect(file);
  if (description.nodes.length === 0) {
    throw new Error("It has no nodes, so it is no ONNX model.");
  }
  const { metadata } = description;
  try {
    const module = await load(file, { externalData: beside });
    return { description, module, metadata, problem: null };
  } catch (error) {
    return { description, module: null, metadata, problem: errorText(error) };
  }
}

async function openSafetensors(file: File) {
  const source = await eg.io.openSafetensors(file);
  const value: Record<string, eg.Tensor> = {};
  for (const name of source.keys) {
    Object.defineProperty(value, name, { value: await source.tensor(name), enumerable: true });
  }
  await source.close();
  return { value, metadata: source.metadata };
}

/** The tensors of a file by name. */
export function tensorsOf({ module, value }: OpenFile): Map<string, eg.Tensor> {
  if (module !== null) {
    const buffers = module.namedBuffers().filter(([, { persistent }]) => persistent);
    return new Map<string, eg.Tensor>([...module.namedParameters(), ...buffers]);
  }
  const found = new Map<string, eg.Tensor>();
  collect(value, [], found);
  return found;
}

function collect(value: unknown, path: readonly string[], found: Map<string, eg.Tensor>): void {
  if (value instanceof eg.Tensor) found.set(path.join(".") || "tensor", value);
  else if (value instanceof Map) {
    for (const [key, item] of value) collect(item, [...path, String(key)], found);
  } else if (Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype) {
    for (const [key, item] of Object.entries(value as object)) collect(item, [...path, key], found);
  }
}

/** Frees the tensors of a file. */
export function closeFile(file: OpenFile): void {
  for (const tensor of tensorsOf(file).values()) tensor.dispose();
  for (const tensor of file.module?.buffers() ?? []) tensor.dispose();
}

/** What the page shows of a file. */
export function openedOf(file: OpenFile): Opened {
  const { kind, description, module } = file;
  return {
    name: file.file.name,
    kind,
    bytes: file.file.size,
    tensors: rowsOf(file),
    metadata: file.metadata,
    formats: formatsOf(kind, module),
    model: description,
    problem: file.problem,
  };
}

/** The tensors of a file, for the page. */
export function rowsOf(file: OpenFile): TensorRow[] {
  if (file.description !== null && file.module === null) return [...file.description.initializers];
  return [...tensorsOf(file)].map(([name, tensor]) => ({
    name,
    dtype: tensor.dtype,
    shape: tensor.shape,
    bytes: tensor.numel * tensor.elementSize(),
  }));
}

function formatsOf(kind: Kind, module: OnnxModule | null): Format[] {
  if (kind !== "onnx") return ["safetensors", "pt"];
  return module === null ? [] : ["onnx", "safetensors", "pt"];
}

/** Writes the weights of a file in a format that only has weights. */
export async function weightsOf(file: OpenFile, format: "pt" | "safetensors"): Promise<Uint8Array> {
  const { module, value, metadata } = file;
  if (format === "pt") return eg.io.saveTorch(module?.stateDict() ?? value);
  const tensors = module?.stateDict() ?? Object.fromEntries(tensorsOf(file));
  return eg.io.saveSafetensors(tensors, { metadata });
}
