// Random number generators of one's own. The engine has one that all threads share; a Generator is a
// state that is put in the place of that one while an op draws.

import { kDraw } from "../arguments/generator.js";
import { readArguments } from "../arguments/read.js";
import { integer, Rule } from "../arguments/rule.js";
import { checkedFor, native } from "../runtime/bridge.js";
import { fail } from "../runtime/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";
import { fromElements } from "./create.js";

/** A seed: a whole number, of which the low 64 bits count. */
export const seedRule = new Rule<number | bigint>("a whole number", (value) => {
  return typeof value === "bigint" || integer.accepts(value);
});

// What torch.Generator() starts from.
const kDefaultSeed = 67280421310721n;

const kArguments = { seed: seedRule.or(kDefaultSeed) };

/**
 * A source of random numbers beside the common one: `new Generator(5)` gives functions that take
 * `{ generator }` what PyTorch's `torch.Generator().manual_seed(5)` gives.
 */
export class Generator {
  #state: Uint8Array;

  /** Begins with a seed, as manualSeed() takes it; default PyTorch's, 67280421310721. */
  constructor(...given: [seed?: number | bigint]) {
    this.#state = stateOfSeed(readArguments("Generator", kArguments, given).seed);
  }

  /** Begins again with a seed. */
  manualSeed(seed: number | bigint): this {
    this.#state = stateOfSeed(seedRule.check("manualSeed", "seed", seed));
    return this;
  }

  /** Begins again with a seed that nobody can foresee, and returns it. */
  seed(): number {
    const seed = unforeseenSeed();
    this.manualSeed(seed);
    return seed;
  }

  /** The seed it began with; a bigint where a number would not be exact. */
  initialSeed(): number | bigint {
    return seedOfState(this.#state);
  }

  /** The position as a uint8 tensor, which `torch.Generator.set_state` takes too. */
  getState(): Tensor {
    return tensorOfState(this.#state);
  }

  /** Goes to a position that getState() gave, here or in PyTorch; InvalidArgument for other bytes. */
  setState(state: Tensor): this {
    const bytes = bytesOfState("setState", state);
    withOwnGenerator(() => writeState("setState", bytes));
    this.#state = bytes;
    return this;
  }

  /** Runs `draw` with the numbers of this generator; for functions that take `{ generator }`. */
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
}

/** Seeds the generator in use on this thread. */
export function seedNative(seed: number | bigint): void {
  const bits = BigInt.asUintN(64, BigInt(seed));
  native.manualSeed(Number(bits >> 32n), Number(bits & 0xffffffffn));
}

/** A seed from the system's entropy, below 2^53. */
export function unforeseenSeed(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0x1fffff) * 2 ** 32 + low;
}

/** The state of the generator in use on this thread, in the layout of torch.get_rng_state(). */
export function readState(): Uint8Array {
  const state = drawnState();
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

/** The seed that a state came from. */
export function seedOfState(state: Uint8Array): number | bigint {
  const seed = new DataView(state.buffer, state.byteOffset).getBigUint64(0, true);
  return seed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(seed) : seed;
}

/** A state as users have it. */
export function tensorOfState(state: Uint8Array): Tensor {
  return fromElements("uint8", [state.length], state);
}

/** The bytes of a state that a user gave. */
export function bytesOfState(where: string, state: unknown): Uint8Array {
  const tensor = tensorRule.check(where, "state", state);
  if (tensor.dtype !== "uint8") {
    fail("DtypeMismatch", where, `state: RNG state must be a uint8 tensor, got ${tensor.dtype}.`);
  }
  return tensor.dataSync() as Uint8Array;
}

function stateOfSeed(seed: number | bigint): Uint8Array {
  return withOwnGenerator(() => {
    seedNative(seed);
    return readState();
  });
}

/** The state of the generator in use on this thread, for drawingAgain(); the caller's to dispose of. */
export function drawnState(): Tensor {
  return new Tensor(checkedFor("getState", native.rngState()));
}

/**
 * Runs `fn`, which draws what was drawn from a state on. It has a generator of its own: the common one stays where it is, and
 * what other threads draw from that changes nothing here.
 */
export function drawingAgain<T>(state: Tensor, fn: () => T): T {
  return withOwnGenerator(() => {
    checkedFor("setState", native.setRngState(state.handle));
    return fn();
  });
}

let isOwn = false;

// There is one of a thread's own: who is within another's use puts that back.
function withOwnGenerator<T>(run: () => T): T {
  const outer = isOwn ? drawnState() : null;
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
