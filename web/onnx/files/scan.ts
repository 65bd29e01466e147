// Reads a model from a file that is not in memory. Large initializers stay in the file, so that a model is never in memory twice.

import { fail } from "../../errors/errors.js";
import { type Origin, originOf, readMessage } from "../proto/read.js";
import { fieldsByNumber, kMessages, type Message } from "../proto/schema.js";
import type { OpenFile } from "../source.js";
import type { FilePart } from "../tensors/decode.js";

/** Larger data of an initializer stays in the file. */
const kLarge = 64 * 2 ** 10;
/** The number of bytes that are read at once when looking for fields. */
const kWindow = 64 * 2 ** 10;
/** The largest size of a tag and a length. */
const kMostHead = 20;
/** The limit on fields that are looked at one by one, so that a file of many tiny fields is rejected quickly. */
const kMostFields = 200_000;

const kWhere = "onnx.load";
const kBytes = 2;
const [kGraph] = kMessages.Model.graph;
const [kInitializer] = kMessages.Graph.initializer;
const [kRawData] = kMessages.Tensor.rawData;

/** The messages that are read in pieces. */
type Piecewise = "Model" | "Graph" | "Tensor";

/** A model, and the unread data of its initializers. */
export interface Scanned {
  readonly model: Message<"Model">;
  readonly parts: ReadonlyMap<Message<"Tensor">, FilePart>;
}

/** Reads a model; throws InvalidArgument if it is damaged. */
export function scanModel(file: OpenFile): Promise<Scanned> {
  return new Scanner(file).model();
}

class Scanner {
  readonly #parts = new Map<Message<"Tensor">, FilePart>();
  readonly #origin: Origin;
  #window = new Uint8Array(0);
  #windowStart = 0;
  #fieldCount = 0;

  constructor(readonly file: OpenFile) {
    this.#origin = originOf(file.size);
  }

  async model(): Promise<Scanned> {
    const isGraph = ({ number, wire }: Place) => number === kGraph && wire === kBytes;
    const model = await this.#message("Model", 0, this.file.size, isGraph, async (place) => {
      return { ...empty("Model"), graph: await this.#graph(place) };
    });
    return { model, parts: this.#parts };
  }

  #graph({ start, end }: Place): Promise<Message<"Graph">> {
    const isLarge = (place: Place) => place.number === kInitializer && isLong(place);
    return this.#message("Graph", start, end, isLarge, async (place) => {
      return { ...empty("Graph"), initializer: [await this.#tensor(place)] };
    });
  }

  async #tensor({ start, end }: Place): Promise<Message<"Tensor">> {
    let part: FilePart | undefined;
    const isData = (place: Place) => place.number === kRawData && isLong(place);
    const tensor = await this.#message("Tensor", start, end, isData, async (place) => {
      part = { file: this.file, start: place.start, length: place.end - place.start };
      return empty("Tensor");
    });
    if (part !== undefined) this.#parts.set(tensor, part);
    return tensor;
  }

  // Reads a message. `take` reads the fields that need special treatment.
  async #message<N extends Piecewise>(
    name: N,
    from: number,
    to: number,
    isApart: (place: Place) => boolean,
    take: (place: Place) => Promise<Message<N>>,
  ): Promise<Message<N>> {
    let found = empty(name);
    let begin = from;
    const readUpTo = async (end: number) => {
      if (begin === end) return;
      // A copy, because the next read overwrites these bytes.
      const bytes = (await this.file.read(begin, end)).slice();
      const more = readMessage(name, bytes, { ...this.#origin, start: begin });
      found = merge(name, found, more);
    };
    for (let at = from; at < to; ) {
      const place = await this.#place(name, at, to);
      at = place.end;
      if (!isApart(place)) continue;
      await readUpTo(place.from);
      begin = place.end;
      found = merge(name, found, await take(place));
    }
    await readUpTo(to);
    return found;
  }

  async #place(name: Piecewise, at: number, end: number): Promise<Place> {
    if (++this.#fieldCount > kMostFields) {
      fail("InvalidArgument", kWhere, `the file has more than ${kMostFields} nodes and tensors.`);
    }
    const needed = Math.min(end, at + kMostHead);
    const isInside = at >= this.#windowStart && needed <= this.#windowStart + this.#window.length;
    if (!isInside) {
      this.#windowStart = at;
      const last = Math.min(this.file.size, at + kWindow);
      this.#window = (await this.file.read(at, last)).slice();
    }
    const place = placeIn(this.#window, this.#windowStart, at, end);
    return place ?? this.#damaged(name, at, end);
  }

  // Reading the rest of the message finds the error.
  async #damaged(name: Piecewise, at: number, end: number): Promise<never> {
    const bytes = await this.file.read(at, end);
    readMessage(name, bytes, { ...this.#origin, start: at });
    return fail("InvalidArgument", kWhere, `expected an ONNX model, got damaged bytes at ${at}.`);
  }
}

/** The location of a field in a file: its number, and the ranges of its tag and its value. */
interface Place {
  readonly number: number;
  readonly wire: number;
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

// Returns the location of the field at `at`, or null if it is damaged; `bytes` are those from `first` on.
function placeIn(bytes: Uint8Array, first: number, at: number, end: number): Place | null {
  let next = at;
  const integer = () => {
    let value = 0;
    for (let scale = 1; next < end && scale < 2 ** 70; scale *= 128) {
      const byte = bytes[next++ - first] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    return Number.NaN;
  };
  const tag = integer();
  const wire = tag % 8;
  const length = wire === kBytes ? integer() : (kFixed[wire] ?? Number.NaN);
  const start = next;
  const value = wire === 0 ? integer() : 0;
  const isWhole = length <= end - next && !Number.isNaN(value);
  const number = Math.floor(tag / 8);
  return isWhole ? { number, wire, from: at, start, end: next + length } : null;
}

/** The sizes of values by wire type; 0 means that a varint encodes its own length. */
const kFixed: Readonly<Record<number, number>> = { 0: 0, 1: 8, 5: 4 };

const isLong = ({ wire, start, end }: Place) => wire === kBytes && end - start > kLarge;

const empty = <N extends Piecewise>(name: N): Message<N> => readMessage(name, new Uint8Array());

// As protobuf specifies: lists are concatenated, and other fields come from the later part.
function merge<N extends Piecewise>(name: N, before: Message<N>, more: Message<N>): Message<N> {
  const [old, added] = [before, more] as Readonly<Record<string, unknown>>[];
  const entries = [...fieldsByNumber(name).values()].map(({ name: key, isList }) => {
    const [a, b] = [old?.[key], added?.[key]];
    return [key, isList ? [...(a as unknown[]), ...(b as unknown[])] : (b ?? a)];
  });
  return Object.fromEntries(entries) as Message<N>;
}
