// Safetensors files that are read in parts: only the header is kept, and tensors are read when they are asked for.

import { readOptions } from "../arguments/read.js";
import { functionOf, type Options, text } from "../arguments/rule.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { type DType, dtypeRule } from "../tensor/dtype.js";
import { kFactoryOptions, withFactoryOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";
import { failClosed, readingLater, reject } from "./broken_file.js";
import { kStartBytes, refuseOthers } from "./file_kinds.js";
import type { FetchLike } from "./platform_types.js";
import { type Entry, headerEndOf, headerOf } from "./safetensors_header.js";
import { indexOf, looksLikeIndex } from "./safetensors_index.js";
import { kHeaderBytes } from "./safetensors_layout.js";
import { piecesOfRuns, runsOf, type SliceRange, selectionOf } from "./selection.js";
import { Requests } from "./sources/http.js";
import { type FileSource, type Place, placeOf } from "./sources/place.js";
import { readBytes, type Source } from "./sources/source.js";
import { tensorOfPieces } from "./stored_elements.js";

const kWhere = "openSafetensors";

/** How much of a tensor has been read. */
export interface ReadProgress {
  /** The tensor. */
  readonly name: string;
  /** The bytes of it that have arrived. */
  readonly loaded: number;
  /** The bytes that are read in all. */
  readonly total: number;
}

/** The option of a function that is told what has been read. */
export const kOnProgress = functionOf<(progress: ReadProgress) => void>().optional();

/** The option of a function that makes requests. */
export const kFetch = functionOf<FetchLike>().optional();

const kOptions = {
  /** Called for each piece of a tensor that has arrived. */
  onProgress: kOnProgress,
  /** Makes the requests for an address, for example with headers of its own; default: the global `fetch`. */
  fetch: kFetch,
};

/** Options of `openSafetensors`. */
export type OpenSafetensorsOptions = Options<typeof kOptions>;

const kTensorOptions = {
  /** The device of the tensor; default "cpu". */
  device: kFactoryOptions.device,
  /** The element type; default: that of the file. */
  dtype: dtypeRule.optional(),
};

/** Options of the methods of `SafetensorsReader` that return a tensor. */
export type ReadTensorOptions = Options<typeof kTensorOptions>;

/** What a file says about a tensor. */
export interface StoredTensorInfo {
  /** The element type that the tensor is read as. */
  readonly dtype: DType;
  /** The sizes of its dimensions. */
  readonly shape: readonly number[];
  /** The bytes that it takes in the file. */
  readonly bytes: number;
}

/**
 * Opens a safetensors file without reading its tensors: a Blob or File, an address (only the ranges that are read are requested), a path in
 * Node, or bytes. A `model.safetensors.index.json` opens the files that it names: beside it, or in an object of files by name. Rejects with
 * InvalidArgument for what is not a valid file, or cannot be read.
 */
export async function openSafetensors(
  source: FileSource,
  ...rest: [options?: OpenSafetensorsOptions]
): Promise<SafetensorsReader> {
  const { onProgress, fetch: given } = readOptions(kWhere, kOptions, rest);
  const requests = new Requests(kWhere, given ?? ((url, options) => fetch(url, options)));
  return readerAt(placeOf(source, requests), onProgress);
}

/** Opens the safetensors file, or the index of several, at a place. */
export function readerAt(
  place: Place,
  onProgress: (progress: ReadProgress) => void = () => {},
): Promise<SafetensorsReader> {
  return readingLater(kWhere, async () => {
    const opened = await place.open();
    try {
      const start = await readBytes(opened, 0, Math.min(kStartBytes, opened.size));
      refuseOthers(kWhere, start, ["safetensors", "json"]);
      if (looksLikeIndex(start)) {
        const index = await indexOf(opened);
        await opened.close();
        return new SafetensorsReader(new Shards(place, index.files), index.metadata, onProgress);
      }
      const file = await OpenFile.open(opened);
      return new SafetensorsReader(file, file.metadata, onProgress);
    } catch (error) {
      await opened.close();
      throw error;
    }
  });
}

/** A tensor and the file that has it. */
interface Located {
  readonly file: OpenFile;
  readonly entry: Entry;
}

/** One file or several. */
interface Files {
  readonly keys: readonly string[];
  locate(name: string): Promise<Located>;
  close(): Promise<void>;
}

class OpenFile implements Files {
  private constructor(
    readonly source: Source,
    readonly dataStart: number,
    readonly metadata: Readonly<Record<string, string>>,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  static async open(source: Source): Promise<OpenFile> {
    const first = await readBytes(source, 0, Math.min(kHeaderBytes, source.size));
    const end = headerEndOf(first, source.size);
    const header = headerOf(await readBytes(source, kHeaderBytes, end), source.size - end);
    const entries = new Map(header.entries.map((entry) => [entry.name, entry]));
    return new OpenFile(source, end, header.metadata, entries);
  }

  get keys(): readonly string[] {
    return [...this.entries.keys()];
  }

  async locate(name: string): Promise<Located> {
    const entry = this.entries.get(name);
    if (entry === undefined) {
      reject(
        `${this.source.name} has no tensor ${JSON.stringify(name)}, though its index says so.`,
      );
    }
    return { file: this, entry };
  }

  close(): Promise<void> {
    return this.source.close();
  }
}

// The files of an index, each of which is opened for its first tensor.
class Shards implements Files {
  readonly #place: Place;
  readonly #fileOf: ReadonlyMap<string, string>;
  readonly #open = new Map<string, Promise<OpenFile>>();

  constructor(place: Place, fileOf: ReadonlyMap<string, string>) {
    this.#place = place;
    this.#fileOf = fileOf;
  }

  get keys(): readonly string[] {
    return [...this.#fileOf.keys()];
  }

  async locate(name: string): Promise<Located> {
    const fileName = this.#fileOf.get(name) as string;
    const opening = this.#open.get(fileName) ?? this.#openFile(fileName);
    this.#open.set(fileName, opening);
    try {
      return await (await opening).locate(name);
    } catch (error) {
      // A file that could not be opened may be there at the next call.
      if (this.#open.get(fileName) === opening) this.#open.delete(fileName);
      throw error;
    }
  }

  async #openFile(name: string): Promise<OpenFile> {
    const source = await this.#place.beside(name).open();
    try {
      return await OpenFile.open(source);
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    for (const outcome of opened) if (outcome.status === "fulfilled") await outcome.value.close();
  }
}

/** An open safetensors file, or several with an index. Made by `openSafetensors`. */
export class SafetensorsReader {
  /** The names of the tensors, in the order of the file. */
  readonly keys: readonly string[];
  /** The strings that the file has beside its tensors, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly #files: Files;
  readonly #known: ReadonlySet<string>;
  readonly #onProgress: (progress: ReadProgress) => void;
  #isClosed = false;

  /** @internal */
  constructor(
    files: Files,
    metadata: Readonly<Record<string, string>>,
    onProgress: (progress: ReadProgress) => void,
  ) {
    this.keys = files.keys;
    this.metadata = metadata;
    this.#files = files;
    this.#known = new Set(files.keys);
    this.#onProgress = onProgress;
  }

  /** Returns the dtype, shape and size of a tensor without reading it. */
  async info(name: string): Promise<StoredTensorInfo> {
    const { entry } = await this.#locate("info", name);
    const { type, shape, start, end } = entry;
    return { dtype: type.dtype, shape, bytes: end - start };
  }

  /** Reads one tensor. Types that do not exist here are converted as by `loadSafetensors`. */
  async tensor(name: string, ...rest: [options?: ReadTensorOptions]): Promise<Tensor> {
    const options = readOptions("tensor", kTensorOptions, rest);
    const { file, entry } = await this.#locate("tensor", name);
    return this.#read("tensor", file, entry, entry.shape, [[0, entry.count]], options);
  }

  /**
   * Reads a part of a tensor, of which the bytes between are skipped: one range per dimension, [start, end], eg.slice(start, end) or null
   * for all of it, or a position, which removes the dimension. Dimensions without a range are read whole. Negative positions count from
   * the end. Options may follow the ranges.
   */
  async slice(
    name: string,
    ...ranges: [...SliceRange[], ReadTensorOptions] | SliceRange[]
  ): Promise<Tensor> {
    const { file, entry } = await this.#locate("slice", name);
    const { selected, rest } = selectionOf("slice", name, entry.shape, ranges);
    const options = readOptions("slice", kTensorOptions, rest);
    const shape = selected.flatMap(({ start, end, isRemoved }) => (isRemoved ? [] : [end - start]));
    return this.#read("slice", file, entry, shape, runsOf(entry.shape, selected), options);
  }

  /** Closes the file. Reading from it afterwards is an error of the code Disposed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#files.close();
  }

  async #locate(where: string, name: string): Promise<Located> {
    text.check(where, "name", name);
    if (this.#isClosed) failClosed(where);
    if (!this.#known.has(name)) {
      fail("InvalidArgument", where, `there is no tensor ${describe(name)} in the file.`);
    }
    return readingLater(where, () => this.#files.locate(name));
  }

  async #read(
    where: string,
    file: OpenFile,
    { name, type, start }: Entry,
    shape: readonly number[],
    runs: Iterable<readonly [start: number, length: number]>,
    { device, dtype }: ReadTensorOptions,
  ): Promise<Tensor> {
    const count = shape.reduce((product, size) => product * size, 1);
    const total = count * type.bytes;
    let loaded = 0;
    const tensor = await readingLater(where, () => {
      const pieces = piecesOfRuns(file.source, file.dataStart + start, type.bytes, runs);
      return tensorOfPieces(where, { name, type, shape, count }, pieces, (bytes) => {
        loaded += bytes;
        this.#onProgress({ name, loaded, total });
      });
    });
    return withFactoryOptions(converted(tensor, dtype), { device, requiresGrad: false });
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function converted(tensor: Tensor, dtype: DType | undefined): Tensor {
  if (dtype === undefined || dtype === tensor.dtype) return tensor;
  try {
    return tensor.to(dtype);
  } finally {
    tensor.dispose();
  }
}
