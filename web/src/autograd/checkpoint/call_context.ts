// The state that the results of a checkpointed function depend on besides its arguments and the grad mode.

import { interpretedBy, interpreter } from "../../dispatch/interpreter.js";
import { drawingFrom, drawingIsolated, generatorState } from "../../ops/generator.js";
import { native, reserveStack } from "../../runtime/bridge/bridge.js";
import { dtypeCode } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { instead, replacingJvps } from "../function.js";

/** The state at a call of checkpoint(). */
export class CallContext {
  /** The state of the random number generator; null if it is not preserved. */
  readonly drawn: Tensor | null;
  readonly #defaultDtype = native.defaultDtype();
  readonly #autocast = autocastCode();
  readonly #interpreter = interpreter;
  readonly #instead = instead;

  constructor(preserveRngState: boolean) {
    this.drawn = preserveRngState ? generatorState() : null;
    // Needed after the scope of the call has ended.
    if (this.drawn !== null) this.drawn.isKept = true;
  }

  dispose(): void {
    this.drawn?.dispose();
  }

  /** Runs `fn` so that its random numbers can be repeated. */
  recordingRandomness<T>(fn: () => T): T {
    return this.drawn === null ? fn() : drawingIsolated(this.drawn, fn);
  }

  /** Runs `fn` with the state in which this object was created, and random numbers from `drawn`. */
  restored<T>(fn: () => T, drawn = this.drawn): T {
    reserveStack();
    const defaultDtype = native.defaultDtype();
    const autocast = native.setAutocast(this.#autocast);
    native.setDefaultDtype(this.#defaultDtype);
    try {
      return interpretedBy(this.#interpreter, () =>
        replacingJvps(this.#instead, () => (drawn === null ? fn() : drawingFrom(drawn, fn))),
      );
    } finally {
      native.setDefaultDtype(defaultDtype);
      native.setAutocast(autocast);
    }
  }
}

// Returns the code of autocast's dtype. The engine only returns it when another one is set.
function autocastCode(): number {
  const code = native.setAutocast(dtypeCode("float32", "checkpoint"));
  native.setAutocast(code);
  return code;
}
