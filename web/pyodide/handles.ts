// The objects that Python knows, by number: Python holds integers, JavaScript the tensors.

import type { Tensor } from "edgegrad";
import type { Engine } from "./engine.js";

/** The growth after which Python's collector runs, and after how many objects to look. */
const kGrowth = 2 ** 28;
const kEvery = 256;

// Whether an object of JavaScript may hold the tensor, which the garbage collector then frees.
const kIsHeld = Symbol("is held");

/** A tensor with what is kept on it. */
interface Numbered {
  [kIsHeld]?: boolean;
  [number: symbol]: number | boolean | undefined;
}

const numbered = (tensor: Tensor) => tensor as unknown as Numbered;

/** JavaScript's objects by the numbers under which Python knows them. */
export class Handles {
  /** The objects; read directly where every nanosecond counts. */
  readonly objects: unknown[] = [undefined];
  readonly #counts: number[] = [0];
  readonly #free: number[] = [];
  // Where a tensor has its number in this Python. A map would be slower, by a tenth of what an op takes from Python.
  readonly #number = Symbol("number");
  // The numbers of objects that are not tensors.
  readonly #numbers = new Map<unknown, number>();
  // Tensors that JavaScript has lent to a function of Python, and those of them that Python has dropped while functions were running.
  readonly #lent = new WeakSet<object>();
  readonly #late: Tensor[] = [];
  readonly #Tensor: Engine["Tensor"];
  #made = 0;
  #bytes = 0;

  constructor(private readonly eg: Engine) {
    this.#Tensor = eg.Tensor;
  }

  /** How many functions of Python are running inside calls of JavaScript: there, scopes may free tensors. */
  depth = 0;
  /** How many calls are running whose results refer to the tensors that they lend, as the function that vjp() returns does. */
  keeping = 0;

  /** The number of objects. */
  get size(): number {
    return this.objects.length - this.#free.length - 1;
  }

  /** Returns the number of an object, which Python has to drop once more. */
  put(value: unknown): number {
    const tensor = value instanceof this.#Tensor ? numbered(value) : null;
    const known = tensor ? (tensor[this.#number] as number | undefined) : this.#numbers.get(value);
    if (known !== undefined) {
      this.#counts[known] = (this.#counts[known] ?? 0) + 1;
      return known;
    }
    if (this.depth > 0) this.eg.keep(value);
    if (++this.#made % kEvery === 0) this.#collectIfGrown();
    const handle = this.#free.pop() ?? this.objects.length;
    this.objects[handle] = value;
    this.#counts[handle] = 1;
    if (tensor) tensor[this.#number] = handle;
    else this.#numbers.set(value, handle);
    return handle;
  }

  /** What runs Python's collector. */
  collect: () => void = () => undefined;

  // Python's collector counts objects, and knows nothing of their bytes.
  #collectIfGrown(): void {
    const now = this.eg.memory().cpuBytes;
    if (now > this.#bytes + kGrowth) {
      this.collect();
      this.#bytes = this.eg.memory().cpuBytes;
    } else if (now < this.#bytes) {
      this.#bytes = now;
    }
  }

  /** Lets go of an object once; the last time, a tensor's memory is free. */
  drop(handle: number): void {
    const count = (this.#counts[handle] ?? 0) - 1;
    this.#counts[handle] = count;
    if (count > 0) return;
    const value = this.objects[handle];
    this.objects[handle] = undefined;
    this.#free.push(handle);
    if (this.depth === 0 && this.#late.length > 0) this.#disposeLate();
    if (!(value instanceof this.#Tensor)) {
      this.#numbers.delete(value);
      return;
    }
    numbered(value)[this.#number] = undefined;
    if (numbered(value)[kIsHeld] === true) return;
    if (!this.#lent.has(value)) value.dispose();
    // A tensor of vmap() would take with it the caller's tensor, of which it is a view.
    else if (value.constructor === this.#Tensor) this.#late.push(value);
  }

  // Those that Python has been given again are its own now.
  #disposeLate(): void {
    for (const tensor of this.#late.splice(0)) {
      const { [this.#number]: number, [kIsHeld]: isHeld } = numbered(tensor);
      if (number === undefined && isHeld !== true) tensor.dispose();
    }
  }

  /** Keeps the tensors among the arguments of a function of Python for as long as the call of JavaScript that calls it, or its results. */
  lend(args: readonly unknown[]): void {
    if (this.keeping > 0) this.hold(args);
    for (const one of args) {
      if (one instanceof this.#Tensor) this.#lent.add(one);
      else if (Array.isArray(one)) this.lend(one);
      else if (isPlain(one)) this.lend(Object.values(one));
    }
  }

  /** Leaves a value's tensors to the garbage collector, because JavaScript may use them after Python has dropped them. */
  hold(value: unknown): void {
    if (value instanceof this.#Tensor) numbered(this.eg.keep(value))[kIsHeld] = true;
    else if (Array.isArray(value)) for (const item of value) this.hold(item);
    else if (isPlain(value)) for (const item of Object.values(value)) this.hold(item);
  }

  /** Drops what is in none of Python's objects, whose numbers are given once for each; returns how many that were. */
  sweep(live: readonly number[]): number {
    const wanted = new Map<number, number>();
    for (const handle of live) wanted.set(handle, (wanted.get(handle) ?? 0) + 1);
    let swept = 0;
    for (let handle = 1; handle < this.objects.length; handle++) {
      const count = wanted.get(handle) ?? 0;
      if (this.objects[handle] === undefined || (this.#counts[handle] ?? 0) <= count) continue;
      swept++;
      this.#counts[handle] = Math.max(count, 1);
      if (count === 0) this.drop(handle);
    }
    return swept;
  }
}

/** True for an object without a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
