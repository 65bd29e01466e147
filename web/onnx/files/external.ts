// Tensors whose elements are in other files.

import { fail } from "../../errors/errors.js";
import type { Message } from "../proto/schema.js";
import type { OpenFile, Source } from "../source.js";
import type { FilePart } from "../tensors/decode.js";

type TensorMessage = Message<"Tensor">;

/** Files by the names that a model has for them, or a function that returns the file with a name. */
export type ExternalData =
  | Readonly<Record<string, Source>>
  | ((location: string) => Source | Promise<Source>);

const kWhere = "onnx.load";

/** The limit on bytes of tensors per byte of their files: a few tensors may share their elements. */
const kMostShared = 4;

/** Opens a source. */
export type Opener = (where: string, source: Source) => Promise<OpenFile>;

/** The files beside a model, which stay open while it is read. */
export class ExternalFiles {
  readonly #files = new Map<string, OpenFile>();
  readonly #given: ExternalData | undefined;
  readonly #source: Source;
  readonly #opener: Opener;

  /** `source` is the source of the model. */
  constructor(given: ExternalData | undefined, source: Source, opener: Opener) {
    this.#given = given;
    this.#source = source;
    this.#opener = opener;
  }

  /** Returns where these tensors are. */
  async partsOf(tensors: readonly TensorMessage[]): Promise<Map<TensorMessage, FilePart>> {
    const found = new Map<TensorMessage, FilePart>();
    let total = 0;
    for (const tensor of tensors) {
      const { location, offset, length } = placeOf(tensor);
      const file = await this.#open(location);
      const part = partOf(file, offset, length, tensor.name ?? "");
      total += part.length;
      found.set(tensor, part);
    }
    const most = kMostShared * [...this.#files.values()].reduce((sum, { size }) => sum + size, 0);
    if (total > most) {
      fail(
        "InvalidArgument",
        kWhere,
        `the tensors need ${total} bytes of files that have ${most / kMostShared}.`,
      );
    }
    return found;
  }

  async #open(location: string): Promise<OpenFile> {
    let file = this.#files.get(location);
    if (file === undefined) {
      file = await this.#opener(kWhere, await fileNamed(location, this.#given, this.#source));
      this.#files.set(location, file);
    }
    return file;
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close();
  }
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

function partOf(
  file: OpenFile,
  offset: number,
  length: number | undefined,
  name: string,
): FilePart {
  const end = length === undefined ? file.size : offset + length;
  if (offset > end || end > file.size) {
    fail(
      "InvalidArgument",
      kWhere,
      `tensor "${name}" ends at byte ${end} of a file of ${file.size} bytes.`,
    );
  }
  return { file, start: offset, length: end - offset };
}
