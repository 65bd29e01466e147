// Writing Python's pickles of protocol 2, with the opcodes that PyTorch reads with weights_only=True.

const kProtocol = 2;

/** The largest index that the short forms of references have. */
const kShort = 0xff;

/** Appends the parts of a pickle. */
export class PickleWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  readonly #memo = new Map<unknown, number>();

  constructor() {
    this.#code(0x80, kProtocol);
  }

  /** Returns the finished pickle, whose value is what was written last. */
  finished(): Uint8Array {
    this.#code(0x2e);
    return this.#bytes.subarray(0, this.#length);
  }

  none(): void {
    this.#code(0x4e);
  }

  boolean(value: boolean): void {
    this.#code(value ? 0x88 : 0x89);
  }

  float(value: number): void {
    this.#code(0x47);
    const at = this.#grow(8);
    this.#view.setFloat64(at, value);
  }

  integer(value: number | bigint): void {
    if (value >= 0 && value <= 0xff) this.#code(0x4b, Number(value));
    else if (value >= -(2 ** 31) && value < 2 ** 31) {
      this.#code(0x4a);
      const at = this.#grow(4);
      this.#view.setInt32(at, Number(value), true);
    } else this.#long(BigInt(value));
  }

  /** Several whole numbers, one after the other. */
  integers(values: readonly number[]): void {
    for (const value of values) this.integer(value);
  }

  string(value: string): void {
    this.#text(new TextEncoder().encode(value));
  }

  /** Bytes, as a call of a function of Python: this protocol has no opcode for them. */
  bytes(value: Uint8Array): void {
    this.call("_codecs encode", () => {
      this.#text(asCharacters(value));
      this.string("latin1");
    });
  }

  /** A list of what `items` writes. */
  list(items: () => void): void {
    this.#code(0x5d);
    this.#filled(0x65, items);
  }

  /** A dict of what `entries` writes: keys and values in turn. */
  dict(entries: () => void): void {
    this.#code(0x7d);
    this.#filled(0x75, entries);
  }

  /** A tuple of what `items` writes. */
  tuple(items: () => void): void {
    this.#code(0x28);
    items();
    this.#code(0x74);
  }

  /** A class or function: its module and its name, with a space between. */
  name(name: string): void {
    if (this.again(name)) return;
    this.#code(0x63);
    this.#raw(new TextEncoder().encode(`${name.replace(" ", "\n")}\n`));
    this.remember(name);
  }

  /** The result of a call of `callee` with the arguments that `args` writes. */
  call(callee: string, args: () => void): void {
    this.name(callee);
    this.tuple(args);
    this.#code(0x52);
  }

  /** What stands for something outside of the pickle; `id` writes a tuple. */
  persistent(id: () => void): void {
    this.tuple(id);
    this.#code(0x51);
  }

  /** Lets again() refer to what was written last. */
  remember(key: unknown): void {
    const index = this.#memo.size;
    this.#memo.set(key, index);
    this.#reference(index, 0x71, 0x72);
  }

  /** Writes a reference if remember() was called with `key`. Returns whether it was. */
  again(key: unknown): boolean {
    const index = this.#memo.get(key);
    if (index === undefined) return false;
    this.#reference(index, 0x68, 0x6a);
    return true;
  }

  #filled(opcode: number, write: () => void): void {
    this.#code(0x28);
    write();
    this.#code(opcode);
  }

  #reference(index: number, short: number, long: number): void {
    if (index <= kShort) this.#code(short, index);
    else {
      this.#code(long);
      this.#uint32(index);
    }
  }

  #text(utf8: Uint8Array): void {
    this.#code(0x58);
    this.#uint32(utf8.length);
    this.#raw(utf8);
  }

  // Two's complement, the lowest byte first.
  #long(value: bigint): void {
    const magnitude = value < 0n ? -value - 1n : value;
    const length = Math.floor(magnitude.toString(2).length / 8) + 1;
    if (length <= kShort) this.#code(0x8a, length);
    else {
      this.#code(0x8b);
      this.#uint32(length);
    }
    const digits = BigInt.asUintN(8 * length, value)
      .toString(16)
      .padStart(2 * length, "0");
    const start = this.#grow(length);
    for (let i = 0; i < length; i++) {
      const at = 2 * (length - 1 - i);
      this.#bytes[start + i] = Number.parseInt(digits.slice(at, at + 2), 16);
    }
  }

  #code(...bytes: number[]): void {
    this.#raw(bytes);
  }

  #uint32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  // The position first, because making room replaces the array.
  #raw(bytes: ArrayLike<number>): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  // Makes room for more bytes and returns the position of the first.
  #grow(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return start;
  }
}

// Returns the UTF-8 form of the string whose characters have the numbers of the bytes.
function asCharacters(bytes: Uint8Array): Uint8Array {
  const high = bytes.reduce((count, byte) => count + (byte >> 7), 0);
  const utf8 = new Uint8Array(bytes.length + high);
  let at = 0;
  for (const byte of bytes) {
    if (byte > 0x7f) utf8[at++] = 0xc0 | (byte >> 6);
    utf8[at++] = byte > 0x7f ? 0x80 | (byte & 0x3f) : byte;
  }
  return utf8;
}
