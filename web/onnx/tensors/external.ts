// Tensors whose elements are in other files.

import { fail } from "../errors.js";
import type { Message } from "../proto/schema.js";
import { bytesOf, isBlob, type Source } from "../source.js";

type TensorMessage = Message<"Tensor">;

/** Files by the names that a model has for them, or a function that returns the file with a name. */
export type ExternalData =
  | Readonly<Record<string, Source>>
  | ((location: string) => Source | Promise<Source>);

const kWhere = "onnx.load";
const kExternal = 1;

/** Returns the bytes of the tensors of a model that are in other files. `source` is where the model came from. */
export async function readExternal(
  model: Message<"Model">,
  given: ExternalData | undefined,
  source: Source,
): Promise<Map<TensorMessage, Uint8Array>> {
  const files = new Map<string, Source>();
  const found = new Map<TensorMessage, Uint8Array>();
  for (const tensor of externalTensors(model)) {
    const { location, offset, length } = placeOf(tensor);
    let file = files.get(location);
    if (file === undefined) {
      file = await fileNamed(location, given, source);
      // A file is kept as a Blob, of which only the parts that are needed are read.
      if (!isBlob(file)) file = await bytesOf(kWhere, file);
      files.set(location, file);
    }
    found.set(tensor, await partOf(file, offset, length, tensor.name ?? ""));
  }
  return found;
}

async function fileNamed(
  location: string,
  given: ExternalData | undefined,
  source: Source,
): Promise<Source> {
  if (typeof given === "function") return given(location);
  if (given !== undefined && Object.hasOwn(given, location)) return given[location] as Source;
  if (given === undefined && source instanceof URL) return new URL(encodeURI(location), source);
  const advice = `pass { externalData: { "${location}": file } }`;
  return fail(
    "InvalidArgument",
    kWhere,
    `the model has tensors in the file "${location}": ${advice}.`,
  );
}

function placeOf({ externalData, name }: TensorMessage): {
  location: string;
  offset: number;
  length: number | undefined;
} {
  const entries = new Map(externalData.map(({ key, value }) => [key, value ?? ""]));
  const location = entries.get("location") ?? "";
  // A model must not choose files outside its folder.
  const words = location.split(/[\\/]/);
  if (location === "" || words.includes("..") || words[0] === "" || /^\w+:/.test(location)) {
    fail(
      "InvalidArgument",
      kWhere,
      `tensor "${name}" is in the file "${location}", which is not below the model's folder.`,
    );
  }
  const offset = sizeOf(entries.get("offset") ?? "0", name);
  const text = entries.get("length");
  return { location, offset, length: text === undefined ? undefined : sizeOf(text, name) };
}

function sizeOf(text: string, name: string | undefined): number {
  const size = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(size))
    fail(
      "InvalidArgument",
      kWhere,
      `tensor "${name}" has the impossible offset or length "${text}".`,
    );
  return size;
}

async function partOf(
  file: Source,
  offset: number,
  length: number | undefined,
  name: string,
): Promise<Uint8Array> {
  const all = isBlob(file) ? file.size : (file as Uint8Array).length;
  const end = length === undefined ? all : offset + length;
  if (offset > end || end > all) {
    fail(
      "InvalidArgument",
      kWhere,
      `tensor "${name}" ends at byte ${end} of a file of ${all} bytes.`,
    );
  }
  if (isBlob(file)) return new Uint8Array(await file.slice(offset, end).arrayBuffer());
  return (file as Uint8Array).subarray(offset, end);
}

// Tensors of a model that are in other files, also those in attributes.
function externalTensors(model: Message<"Model">): TensorMessage[] {
  const found: TensorMessage[] = [];
  const visitTensor = (one: TensorMessage) => {
    if (Number(one.dataLocation ?? 0) === kExternal) found.push(one);
  };
  const visitNodes = (nodes: readonly Message<"Node">[]) => {
    for (const { attribute } of nodes) {
      for (const { t, g } of attribute) {
        if (t !== undefined) visitTensor(t);
        if (g !== undefined) visitGraph(g);
      }
    }
  };
  const visitGraph = ({ initializer, node }: Message<"Graph">) => {
    initializer.forEach(visitTensor);
    visitNodes(node);
  };
  if (model.graph !== undefined) visitGraph(model.graph);
  for (const { node } of model.functions) visitNodes(node);
  return found;
}
