// Random number generators for programs. The engine has a global one that all threads share; a Generator is a
// state that replaces it while an op draws numbers.

import { kDraw } from "../arguments/generator.js";
import { readArguments } from "../arguments/read.js";
import { integer, Rule } from "../arguments/rule.js";
import { checkedFor, native, reserveStack } from "../runtime/bridge/bridge.js";
import { isCapturing } from "../runtime/bridge/live.js";
import { kCopy, kThisCopy } from "../runtime/errors/copy.js";
import { fail } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";
import { fromElements } from "./create.js";

/** A seed: a whole number, of which the low 64 bits are used. */
export const seedRule = new Rule<number | bigint>("a whole number", (value) => {
  return typeof value === "bigint" || integer.accepts(value);
});

// The default seed of torch.Generator().
const kDefaultSeed = 67280421310721n;

const kArguments = { seed: seedRule.or(kDefaultSeed) };

/**
 * A random number generator that is independent of the global one, for functions that take `{ generator }`.
 * `new Generator(5)` produces the same numbers as PyTorch's `torch.Generator().manual_seed(5)`.
 */
export class Generator {
  #state: Uint8Array;

  /** Creates a generator from a seed, as manualSeed() takes it; default: PyTorch's, 67280421310721. */
  constructor(...given: [seed?: number | bigint]) {
    this.#state = stateOfSeed(readArguments("Generator", kArguments, given).seed);
  }

  /** Restarts this generator from a seed. */
  manualSeed(seed: number | bigint): this {
    this.#state = stateOfSeed(seedRule.check("manualSeed", "seed", seed));
    return this;
  }

  /** Restarts this generator from an unpredictable seed and returns the seed. */
  seed(): number {
    const seed = entropySeed();
    this.manualSeed(seed);
    return seed;
  }

  /** Returns the seed that this generator started from; a bigint where a number would not be exact. */
  initialSeed(): number | bigint {
    return seedOfState(this.#state);
  }

  /** Returns the state as a uint8 tensor, which `torch.Generator.set_state` also accepts. */
  getState(): Tensor {
    return tensorOfState(this.#state);
  }

  /** Restores a state returned by getState(), here or in PyTorch; throws InvalidArgument for any other bytes. */
  setState(state: Tensor): this {
    const bytes = bytesOfState("setState", state);
    withOwnGenerator(() => writeState("setState", bytes));
    this.#state = bytes;
    return this;
  }

  /** Runs `draw` with random numbers from this generator; for functions that take `{ generator }`. */
  [kDraw]<T>(draw: () => T): T {
    return withOwnGenerator(() => {
      writeState("Generator", this.#state);
      try {
        return draw();
      } finally {
        this.#state = readState();
      }
    });
  }

  /** Where this class is. @internal */
  get [kCopy](): object {
    return kThisCopy;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** Seeds the generator in use on this thread. */
export function seedNative(seed: number | bigint): void {
  const bits = BigInt.asUintN(64, BigInt(seed));
  native.manualSeed(Number(bits >> 32n), Number(bits & 0xffffffffn));
}

/** Returns a seed from the system's entropy, below 2^53. */
export function entropySeed(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x1fffff) * 2 ** 32 + low;
}

/** Returns the state of the generator in use on this thread, in the layout of torch.get_rng_state(). */
export function readState(): Uint8Array {
  const state = generatorState();
  const bytes = state.dataSync() as Uint8Array;
  state.dispose();
  return bytes;
}

/** Sets the state of the generator in use on this thread. */
export function writeState(where: string, bytes: Uint8Array): void {
  const state = tensorOfState(bytes);
  try {
    checkedFor(where, native.setRngState(state.handle));
  } finally {
    state.dispose();
  }
}

/** Returns the seed that a state started from. */
export function seedOfState(state: Uint8Array): number | bigint {
  const seed = new DataView(state.buffer, state.byteOffset).getBigUint64(0, true);
  return seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : seed;
}

/** Returns a state as a tensor for users. */
export function tensorOfState(state: Uint8Array): Tensor {
  return fromElements("uint8", [state.length], state);
}

/** Returns the bytes of a state passed by a user. */
export function bytesOfState(where: string, state: unknown): Uint8Array {
  const tensor = tensorRule.check(where, "state", state);
  if (tensor.dtype !== "uint8") {
    fail("DtypeMismatch", where, `state: expected a uint8 tensor, got ${tensor.dtype}.`);
  }
  return tensor.dataSync() as Uint8Array;
}

function stateOfSeed(seed: number | bigint): Uint8Array {
  return withOwnGenerator(() => {
    seedNative(seed);
    return readState();
  });
}

/** Returns the state of the generator in use on this thread, for drawingFrom(). The caller must dispose it. */
export function generatorState(): Tensor {
  return new Tensor(checkedFor("getState", native.rngState()));
}

/**
 * Runs `fn` with the random numbers that follow a state. It uses a separate generator: the global one does not advance, and draws
 * of other threads from that one have no effect here.
 */
export function drawingFrom<T>(state: Tensor, fn: () => T): T {
  return withOwnGenerator(() => {
    checkedFor("setState", native.setRngState(state.handle));
    return fn();
  });
}

/**
 * Runs `fn` so that drawingFrom() can repeat its random numbers: with a separate generator that starts from `start`, the state of
 * the one in use, so that no other thread draws in between. Afterwards the one in use continues from the final state, unless
 * other threads have drawn from it in the meantime; in that case two threads have drawn the same numbers.
 */
export function drawingIsolated<T>(start: Tensor, fn: () => T): T {
  // During a capture no random numbers can be drawn and no state can be read.
  if (isCapturing()) return fn();
  let end: Tensor | null = null;
  try {
    return drawingFrom(start, () => {
      try {
        return fn();
      } finally {
        end = generatorState();
      }
    });
  } finally {
    if (end !== null) advanceTo(end, start);
  }
}

function advanceTo(end: Tensor, start: Tensor): void {
  const before = wordsOf(start);
  if (!areEqual(before, wordsOf(end))) {
    const now = generatorState();
    if (areEqual(before, wordsOf(now))) native.setRngState(end.handle);
    now.dispose();
  }
  end.dispose();
}

const wordsOf = (state: Tensor) => new Uint32Array((state.dataSync() as Uint8Array).buffer);

// A loop is faster than every(), and this runs for every checkpoint.
function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

let isOwn = false;

// Each thread has only one separate generator, so nested uses save and restore its state.
function withOwnGenerator<T>(run: () => T): T {
  reserveStack();
  const outer = isOwn ? generatorState() : null;
  native.useOwnGenerator(true);
  isOwn = true;
  try {
    return run();
  } finally {
    if (outer === null) {
      native.useOwnGenerator(false);
      isOwn = false;
    } else {
      native.setRngState(outer.handle);
      outer.dispose();
    }
  }
}
