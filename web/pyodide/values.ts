// How values travel. To JavaScript: a signature, a short text that says what follows, and the numbers and strings themselves. To Python: a
// number of 0 or more for an object, a negative one for the rest, whose text Python asks for.

import type { Engine, PyFunction } from "./engine.js";
import { type Handles, isPlain } from "./handles.js";

/** The answer for null and undefined. */
export const kNone = -1;
/** The answer for a value whose text `Values.text` has. */
export const kText = -2;

interface Cursor {
  readonly flat: readonly unknown[];
  at: number;
}

type Read = (cursor: Cursor) => unknown;

/** Something of Python that JavaScript only hands back: Python keeps it under a number. */
class Opaque {
  constructor(readonly key: number) {}
}

/** Reads the flat arguments of a call. */
export type Reader = (flat: readonly unknown[]) => unknown[];

/**
 * Reads and writes values. The letters of a signature: t object, v value, f number that is a float also if it is whole, n null, u undefined,
 * z complex (two numbers), s slice (three numbers), c function, o anything of Python, [...] array, {name:...} options, <k...> object whose names are values.
 */
export class Values {
  readonly #readers = new Map<string, Reader>();
  #text = "";

  /** What tells Python that JavaScript has let go of what Python keeps under a number. */
  forget: (key: number) => void = () => undefined;
  /** Objects of JavaScript that stand for something that Python keeps, by its number. */
  readonly standIns = new FinalizationRegistry<number>((key) => this.forget(key));

  constructor(
    private readonly eg: Engine,
    private readonly handles: Handles,
  ) {}

  /** The text of the last value that is not an object; see describe(). */
  text(): string {
    return this.#text;
  }

  /** Returns the reader of a signature. */
  reader(signature: string): Reader {
    const known = this.#readers.get(signature);
    if (known !== undefined) return known;
    const reader = /^[tvn]+$/.test(signature)
      ? this.#plainReader(signature)
      : this.#reader(signature);
    this.#readers.set(signature, reader);
    return reader;
  }

  #reader(signature: string): Reader {
    const reads = new Parser(signature, this).all();
    return (flat) => {
      const cursor = { flat, at: 0 };
      return reads.map((read) => read(cursor));
    };
  }

  // Most calls have nothing but tensors, numbers and null.
  #plainReader(signature: string): Reader {
    const { objects } = this.handles;
    const letters = [...signature];
    return (flat) => {
      let at = 0;
      return letters.map((letter) => {
        if (letter === "n") return null;
        const one = flat[at++];
        return letter === "t" ? objects[one as number] : one;
      });
    };
  }

  /** Returns the object of a number. */
  object(handle: unknown): unknown {
    return this.handles.objects[handle as number];
  }

  /** Returns a range of indices. */
  slice(start: number | null, end: number | null, step: number | null): unknown {
    return this.eg.slice(start ?? null, end ?? null, step ?? 1);
  }

  /** Returns a float of Python as an operand of the first tensor: JavaScript has no 2.0, so among integers it is a tensor. */
  float(value: number, first: unknown): unknown {
    if (!Number.isInteger(value) || !(first instanceof this.eg.Tensor) || !isIntegral(first.dtype))
      return value;
    return this.eg.tensor(value, { dtype: this.eg.getDefaultDtype() });
  }

  /** Returns a function of JavaScript that calls one of Python. Exceptions of Python pass through JavaScript as they are. */
  callback(given: PyFunction): (...args: unknown[]) => unknown {
    const call = given.copy();
    return (...args) => {
      this.handles.depth++;
      this.handles.lend(args);
      try {
        const value = this.answered(call(this.describe(args)));
        // JavaScript may keep it for longer than Python does.
        this.handles.hold(value);
        return value;
      } finally {
        this.handles.depth--;
      }
    };
  }

  /** Returns something of Python that JavaScript only hands back. */
  opaque(key: number): unknown {
    const made = new Opaque(key);
    this.standIns.register(made, key);
    return made;
  }

  /** Returns the value that a function of Python has answered: the number of an object, None, or a list of a signature and its values. */
  answered(answer: unknown): unknown {
    if (typeof answer === "number") return this.object(answer);
    if (!Array.isArray(answer)) return undefined;
    const [signature, ...flat] = answer;
    return this.reader(signature as string)(flat)[0];
  }

  /** Returns the answer for a value. */
  answer(value: unknown): number {
    if (value instanceof this.eg.Tensor) return this.handles.put(value);
    if (value === undefined || value === null) return kNone;
    this.#text = this.describe(value);
    return kText;
  }

  /**
   * Returns a value as JSON, with NaN and infinities as Python writes them. What JSON lacks is an object of one member: {t: tensor},
   * {c: [re, im]}, {m: [[key, value]]}, {f: function}, {o: number of something of Python}, {j: object of a class, n: its name}. The names of other objects begin with $.
   */
  describe(value: unknown): string {
    if (value === undefined || value === null) return "null";
    if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint")
      return String(value);
    if (typeof value === "string") return JSON.stringify(value);
    if (value instanceof this.eg.Tensor) return `{"t":${this.handles.put(value)}}`;
    if (typeof value === "function") return `{"f":${this.handles.put(value)}}`;
    if (Array.isArray(value)) return `[${value.map((item) => this.describe(item)).join()}]`;
    if (ArrayBuffer.isView(value))
      return `[${Array.from(value as unknown as number[], String).join()}]`;
    if (value instanceof Map) return `{"m":${this.describe([...value])}}`;
    if (value instanceof Opaque) return `{"o":${value.key}}`;
    if (!isPlain(value)) {
      const name = JSON.stringify((value as object).constructor?.name ?? "Object");
      return `{"j":${this.handles.put(value)},"n":${name}}`;
    }
    const names = Object.keys(value);
    if (names.length === 2 && "re" in value && "im" in value)
      return `{"c":[${value.re},${value.im}]}`;
    const members = names.map(
      (name) => `${JSON.stringify(`$${name}`)}:${this.describe(value[name])}`,
    );
    return `{${members.join()}}`;
  }
}

/** True for the dtypes whose elements are integers or booleans. */
export function isIntegral(dtype: string): boolean {
  return !/^(?:b?float|complex)/.test(dtype);
}

// Turns a signature into functions that read one argument each.
class Parser {
  #at = 0;
  readonly #startsWithTensor: boolean;
  // Operands, which may have to be tensors, are no options.
  #isInOptions = false;

  constructor(
    readonly text: string,
    readonly values: Values,
  ) {
    this.#startsWithTensor = /^\[?t/.test(text);
  }

  all(): Read[] {
    const reads: Read[] = [];
    while (this.#at < this.text.length) reads.push(this.#one());
    return reads;
  }

  #one(): Read {
    const { values } = this;
    const letter = this.text[this.#at++];
    switch (letter) {
      case "t":
        return (c) => values.object(c.flat[c.at++]);
      case "v":
      case "k":
        return (c) => c.flat[c.at++];
      case "n":
        return () => null;
      case "u":
        return () => undefined;
      case "f":
        return this.#startsWithTensor && !this.#isInOptions
          ? (c) => values.float(c.flat[c.at++] as number, values.object(c.flat[0]))
          : (c) => c.flat[c.at++];
      case "z":
        return (c) => ({ re: c.flat[c.at++], im: c.flat[c.at++] });
      case "s":
        return (c) => {
          const [start, end, step] = c.flat.slice(c.at, c.at + 3) as (number | null)[];
          c.at += 3;
          return values.slice(start ?? null, end ?? null, step ?? null);
        };
      case "c":
        return (c) => values.callback(c.flat[c.at++] as PyFunction);
      case "o":
        return (c) => values.opaque(c.flat[c.at++] as number);
      case "[":
        return this.#array();
      case "{":
        return this.#options();
      case "<":
        return this.#object();
      default:
        throw new TypeError(`signature ${this.text}: no letter "${letter}"`);
    }
  }

  #until(end: string): Read[] {
    const reads: Read[] = [];
    while (this.text[this.#at] !== end) reads.push(this.#one());
    this.#at++;
    return reads;
  }

  #array(): Read {
    const reads = this.#until("]");
    return (c) => reads.map((read) => read(c));
  }

  #object(): Read {
    const reads = this.#until(">");
    return (c) => {
      const found: Record<string, unknown> = {};
      for (let i = 0; i + 1 < reads.length; i += 2) {
        const name = reads[i]?.(c) as string;
        found[name] = reads[i + 1]?.(c);
      }
      return found;
    };
  }

  #options(): Read {
    const pairs: [string, Read][] = [];
    this.#isInOptions = true;
    while (this.text[this.#at] !== "}") {
      const end = this.text.indexOf(":", this.#at);
      const name = this.text.slice(this.#at, end);
      this.#at = end + 1;
      pairs.push([name, this.#one()]);
    }
    this.#at++;
    this.#isInOptions = false;
    return (c) => Object.fromEntries(pairs.map(([name, read]) => [name, read(c)]));
  }
}
