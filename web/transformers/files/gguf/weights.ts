// The tensors of a GGUF file under the names, and with the shapes and orders of rows, of Hugging Face's files.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { type HeadSizes, rowOrder, type Storage, tensorName } from "../../../gguf/names.js";
import type { GgufHeader, GgufTensor } from "../../../gguf/read.js";
import type { CodeFormat } from "../../blocks/code_format.js";
import { type QuantizedMatrix, rowsFrom } from "../../blocks/quantized.js";
import type { PartProgress } from "../read_quantized.js";
import { type CodedFile, sliceOfWhole } from "../weight_file.js";
import { type BlockType, codesOf, kBlockTypes, numbersOf } from "./blocks.js";
import type { GgufModel } from "./config.js";

const kWhere = "fromPretrained";

/** The bytes of a tensor that are read at once. */
const kBytesAtOnce = 2 ** 22;

/** The types of single numbers, with their names in safetensors files. */
const kNumberTypes: Readonly<Record<string, { readonly bytes: number; readonly dtype: eg.DType }>> =
  {
    F32: { bytes: 4, dtype: "float32" },
    F16: { bytes: 2, dtype: "float16" },
    BF16: { bytes: 2, dtype: "bfloat16" },
  };

/** Tensors that config.json replaces. */
const kRotary = /^rope_(?:freqs|factors_(?:long|short))\.weight$/;

/** The most numbers of such a tensor. */
const kMostFactors = 2 ** 16;

/** Reads the tensors that scale rotary positions. */
export async function factorsIn(
  file: eg.io.ByteReader,
  { tensors }: GgufHeader,
): Promise<Record<string, number[]>> {
  const factors: Record<string, number[]> = {};
  for (const [name, { type, shape, start }] of tensors) {
    if (!kRotary.test(name)) continue;
    const [count = 0] = shape;
    if (type !== "F32" || shape.length !== 1 || count > kMostFactors) {
      const message = `${name}: expected a vector of the type F32, got ${type} [${shape.join(", ")}]`;
      fail("InvalidArgument", kWhere, `${file.name}: ${message}.`);
    }
    const bytes = await file.bytes(start, start + 4 * count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    factors[name] = Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true));
  }
  return factors;
}

interface Entry extends GgufTensor {
  readonly key: string;
  readonly storage: Storage;
  readonly rows: number;
  readonly columns: number;
}

/** The weights of a file. */
export class GgufWeights implements CodedFile {
  readonly keys: readonly string[];
  readonly metadata = { format: "pt" };
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #sizes: HeadSizes;
  readonly #dtype: eg.DType;

  constructor(
    private readonly file: eg.io.ByteReader,
    { tensors }: GgufHeader,
    { architecture, sizes }: Pick<GgufModel, "architecture" | "sizes">,
    private readonly progress: PartProgress,
  ) {
    this.#sizes = sizes;
    const entries = [...tensors].flatMap(([own, tensor]): [string, Entry][] => {
      if (kRotary.test(own)) return [];
      const { name: key = own, storage = "same" } = tensorName(architecture, own) ?? {};
      return [[key, this.#entry(own, key, storage, tensor)]];
    });
    this.#entries = new Map(entries);
    this.keys = [...this.#entries.keys()];
    this.#dtype = commonDtype([...this.#entries.values()]);
  }

  // Checks that a tensor is one that can be read, and inside the file.
  #entry(own: string, key: string, storage: Storage, tensor: GgufTensor): Entry {
    const { type, shape, start } = tensor;
    const count = shape.reduce((product, size) => product * size, 1);
    const columns = shape.length < 2 ? 1 : (shape.at(-1) as number);
    const block = kBlockTypes[type];
    if (block === undefined && kNumberTypes[type] === undefined) {
      const known = [...Object.keys(kNumberTypes), ...Object.keys(kBlockTypes)].join(", ");
      const message = `${own} is of the type ${type}, which is not implemented; implemented are ${known}`;
      fail("InvalidArgument", kWhere, `${this.file.name}: ${message}.`);
    }
    if (block !== undefined && columns % block.size !== 0) {
      const message = `${own} has rows of ${columns} numbers, which are no blocks of ${block.size}`;
      fail("InvalidArgument", kWhere, `${this.file.name}: ${message}.`);
    }
    const bytes = bytesOf(type, count);
    if (start + bytes > this.file.size) {
      const message = `${own} would end at byte ${start + bytes} of ${this.file.size}`;
      fail("InvalidArgument", kWhere, `${this.file.name}: ${message}.`);
    }
    const rows = columns === 0 ? 0 : count / columns;
    return { ...tensor, key, storage, rows, columns };
  }

  async info(key: string): Promise<eg.io.StoredTensorInfo> {
    const { type, shape, storage, rows, columns } = this.#at(key);
    const bytes = bytesOf(type, rows * columns);
    return {
      dtype: this.#dtype,
      shape: storage === "transposed" ? [...shape].reverse() : shape,
      bytes,
    };
  }

  format(key: string): CodeFormat | null {
    const { type, shape, storage } = this.#at(key);
    const block = kBlockTypes[type];
    if (block === undefined || shape.length !== 2 || storage === "plus one") return null;
    return block.format ?? { bits: 8, groupSize: 32, hasOffset: false };
  }

  async readCodes(key: string, matrix: QuantizedMatrix): Promise<void> {
    const entry = this.#at(key);
    const { type, rows, columns } = entry;
    if (rows !== matrix.rows || columns !== matrix.columns) {
      const sizes = `expected [${matrix.rows}, ${matrix.columns}], got [${rows}, ${columns}]`;
      fail("ShapeMismatch", kWhere, `${key}: ${sizes}.`);
    }
    const block = kBlockTypes[type] as BlockType;
    const order = rowOrder(entry.storage, rows, this.#sizes);
    for await (const [start, count, bytes] of this.#pieces(entry)) {
      const places = order?.slice(start, start + count) ?? rowsFrom(start, count);
      if (block.format !== null) {
        matrix.putCodes(places, codesOf(block, block.format, bytes));
        continue;
      }
      const numbers = eg.tensor(numbersOf(block, bytes), { shape: [count, columns] });
      matrix.putAt(places, numbers);
      numbers.dispose();
    }
  }

  async tensor(
    key: string,
    { device = "cpu", dtype = this.#dtype }: eg.io.ReadTensorOptions = {},
  ): Promise<eg.Tensor> {
    const entry = this.#at(key);
    const { shape, storage, rows, columns } = entry;
    const order = rowOrder(storage, rows, this.#sizes);
    const whole = eg.zeros([rows, columns], { dtype });
    for await (const [start, count, bytes] of this.#pieces(entry)) {
      eg.scope(() => {
        const numbers = numbersIn(entry, bytes, count);
        const own = (storage === "plus one" ? numbers.float().sub(1) : numbers).to(dtype);
        if (order === null) {
          whole.narrow(0, start, count).copy_(own);
          return;
        }
        const places = order.slice(start, start + count);
        whole.indexCopy_(0, eg.tensor(places, { dtype: "int64" }), own);
      });
    }
    const made = eg.scope(() => {
      const turned =
        storage === "transposed" && shape.length === 2
          ? whole.t().contiguous()
          : whole.reshape([...shape]);
      return eg.keep(turned.to(device));
    });
    if (made !== whole) whole.dispose();
    return made;
  }

  async slice(
    key: string,
    [start, end]: readonly [start: number, end: number],
  ): Promise<eg.Tensor> {
    const entry = this.#at(key);
    if (entry.storage === "same") {
      const bytes = await this.#read(entry, start, end);
      return numbersIn(entry, bytes, end - start);
    }
    return sliceOfWhole(this, key, [start, end]);
  }

  close(): Promise<void> {
    return this.file.close();
  }

  #at(key: string): Entry {
    return this.#entries.get(key) as Entry;
  }

  // The rows of a tensor, a few megabytes at a time.
  async *#pieces(
    entry: Entry,
  ): AsyncIterable<readonly [start: number, count: number, bytes: Uint8Array]> {
    const { key, type, rows, columns } = entry;
    const rowBytes = bytesOf(type, columns);
    this.progress.begin(key, rowBytes * rows);
    const most = Math.max(1, Math.floor(kBytesAtOnce / rowBytes));
    for (let start = 0; start < rows; start += most) {
      const count = Math.min(most, rows - start);
      yield [start, count, await this.#read(entry, start, start + count)];
    }
  }

  async #read(
    { key, type, columns, start }: Entry,
    first: number,
    end: number,
  ): Promise<Uint8Array> {
    const rowBytes = bytesOf(type, columns);
    const bytes = await this.file.bytes(start + first * rowBytes, start + end * rowBytes);
    this.progress.report({ name: key, loaded: bytes.length, total: bytes.length });
    return bytes;
  }
}

function bytesOf(type: string, count: number): number {
  const block = kBlockTypes[type];
  return block ? (count / block.size) * block.bytes : count * (kNumberTypes[type]?.bytes ?? 0);
}

// If all matrices are of one type of floats, the model has it; few bits have float32 between them.
function commonDtype(entries: readonly Entry[]): eg.DType {
  const types = new Set(entries.flatMap(({ type, shape }) => (shape.length > 1 ? [type] : [])));
  const [only = "F32"] = types;
  return (types.size === 1 ? kNumberTypes[only]?.dtype : undefined) ?? "float32";
}

function numbersIn({ type, columns }: Entry, bytes: Uint8Array, rows: number): eg.Tensor {
  const block = kBlockTypes[type];
  const shape = [rows, columns];
  if (block !== undefined) return eg.tensor(numbersOf(block, bytes), { shape });
  return storedNumbers(type, bytes, shape);
}

// As a safetensors file, whose numbers are copied as they are.
function storedNumbers(type: string, bytes: Uint8Array, shape: readonly number[]): eg.Tensor {
  const header = { a: { dtype: type, shape, data_offsets: [0, bytes.length] } };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + bytes.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(bytes, 8 + text.length);
  return eg.io.loadSafetensors(file).a as eg.Tensor;
}
