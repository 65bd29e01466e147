// eg.capture: recording a function once and replaying it from then on. C++ records the kernel calls
// (src/kernels/captured_step.h); this file handles the inputs, the results and the lifetime in JavaScript.

import { isPlainObject } from "../arguments/read.js";
import { functionOf } from "../arguments/rule.js";
import { checkedFor, frameOf, native } from "../runtime/bridge/bridge.js";
import { type Guard, setCapturing, takeGuards } from "../runtime/bridge/live.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { handleOf } from "../tensor/info.js";
import { kUncloneable, leaveToFinalizer, release } from "../tensor/lifetime.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { disposeSymbol, Tensor } from "../tensor/tensor.js";
import type { Wrapper } from "../tensor/wrapper.js";

/** The values that a captured function may return. */
export type CaptureResult =
  | Tensor
  | readonly Tensor[]
  | Readonly<Record<string, Tensor>>
  // biome-ignore lint/suspicious/noConfusingVoidType: for a function that returns nothing.
  | void;

/** A captured function; see `capture`. */
export interface Captured<Inputs extends readonly Tensor[], Result> {
  /** Repeats what the function did when it was captured, with other values; returns new tensors. */
  (...inputs: Inputs): Result;
  /** Frees the memory of the captured function, which cannot be called afterwards. */
  dispose(): void;
  /** True after dispose(). */
  readonly disposed: boolean;
  /** Same as dispose(), for `using` declarations. */
  [Symbol.dispose](): void;
}

/**
 * Runs `fn` and returns a function that repeats its work much faster: the computation is recorded once and then
 * replayed, without running `fn`, building graphs or allocating memory.
 *
 * Capturing runs `fn` twice with copies of `inputs`, with the effect of two calls: capturing a training step
 * performs two steps. The first run creates what later runs reuse (optimizer state, gradients); the second is
 * recorded. Tensors made in `fn` are freed as in `scope`. The JavaScript code in `fn`, including hooks, does not run
 * again, so its decisions are fixed. Only the steps of optimizers and schedulers are computed anew each time, so
 * learning rates and parameter groups may change.
 *
 * Later calls take inputs of the same shapes, dtypes and devices. Tensors that `fn` uses from outside (parameters,
 * gradients) are read and changed in place. Not allowed in `fn` are reading values (`item()`, shapes that depend on
 * values), random numbers, asynchronous functions and `backwardAsync`: anything that differs between calls must be an
 * input. A later call throws if `fn` would now do something else, for example because a module is in another mode.
 */
export function capture<Inputs extends Tensor[], Result extends CaptureResult>(
  fn: (...inputs: Inputs) => Result,
  ...inputs: Inputs
): Captured<Inputs, Result> {
  kFunction.check(kName, "fn", fn);
  inputs.forEach((input, i) => {
    tensorRule.check(kName, `inputs[${i}]`, input);
  });
  if (isRunning) {
    fail("InvalidArgument", kName, "calls of capture() cannot be nested.");
  }
  isRunning = true;
  try {
    scope(() => {
      const copies = inputs.map((input) => requiringAs(input, input.detach().clone()));
      resultOf(fn(...(copies as Inputs)));
    });
    return replayable(record(fn, inputs));
  } finally {
    isRunning = false;
  }
}

const kName = "capture";
const kFunction = functionOf<(...inputs: never[]) => unknown>();

let isRunning = false;

// The result of a function as a list of tensors, and a function that restores its structure for another list.
interface ResultStructure {
  readonly tensors: readonly Tensor[];
  readonly of: (tensors: Tensor[]) => unknown;
}

function resultOf(result: unknown): ResultStructure {
  if (isPromise(result)) {
    result.then(undefined, () => undefined);
    fail(
      "InvalidArgument",
      kName,
      "the function returned a promise: only synchronous functions can be captured.",
    );
  }
  if (result === undefined || result === null) return { tensors: [], of: () => result };
  if (result instanceof Tensor) return { tensors: [result], of: ([tensor]) => tensor };
  const values: unknown[] = Array.isArray(result)
    ? result
    : isPlainObject(result)
      ? Object.values(result)
      : [result];
  const other = values.findIndex((value) => !(value instanceof Tensor));
  if (other >= 0) {
    fail(
      "InvalidArgument",
      kName,
      `the function may return a tensor, an array or an object of tensors, or nothing; got ${describe(values[other])}.`,
    );
  }
  const tensors = values as Tensor[];
  if (Array.isArray(result)) return { tensors, of: (list) => list };
  const names = Object.keys(result);
  return { tensors, of: (list) => Object.fromEntries(names.map((name, i) => [name, list[i]])) };
}

// The wrapper of a captured function in C++.
class CapturedStep implements Wrapper {
  ballast: ArrayBuffer | null = null;
  isKept = true;
  readonly uncloneable = kUncloneable;

  constructor(
    public handle: number,
    readonly inputCount: number,
  ) {}

  get disposed(): boolean {
    return this.handle === 0;
  }
}

// Makes a copy require a gradient if the input does.
function requiringAs(input: Tensor, copy: Tensor): Tensor {
  return input.requiresGrad ? copy.requiresGrad_() : copy;
}

interface Recorded {
  readonly step: CapturedStep;
  readonly guards: readonly Guard[];
  readonly form: ResultStructure["of"];
}

function record(fn: (...inputs: never[]) => unknown, inputs: readonly Tensor[]): Recorded {
  return scope(() => {
    writeHandles(inputs);
    const handle = checkedFor(kName, native.beginCapture(inputs.length));
    try {
      const placeholders = tensorsInFrame(inputs.length).map((placeholder, i) =>
        requiringAs(inputs[i] as Tensor, placeholder),
      );
      setCapturing(true);
      // Memory freed inside this scope is reused later in the recording.
      const form = scope(() => {
        return resultOf(fn(...(placeholders as never[])));
      });
      setCapturing(false);
      writeHandles(form.tensors);
      checkedFor(kName, native.endCapture(handle, form.tensors.length));
      const step = new CapturedStep(handle, inputs.length);
      leaveToFinalizer(step);
      return { step, guards: takeGuards(), form: form.of };
    } catch (error) {
      native.stopCapture(handle);
      native.release(handle);
      throw error;
    } finally {
      setCapturing(false);
      takeGuards();
    }
  });
}

function replayable<Inputs extends Tensor[], Result>({
  step,
  guards,
  form,
}: Recorded): Captured<Inputs, Result> {
  const play = (...inputs: Inputs): Result => {
    for (const [i, input] of inputs.entries()) tensorRule.check(kName, `inputs[${i}]`, input);
    for (const guard of guards) {
      const changed = guard();
      if (changed !== null) {
        fail("InvalidArgument", kName, `${changed} since it was captured. Capture it again.`);
      }
    }
    writeHandles(inputs);
    const count = checkedFor(kName, native.callCaptured(step.handle, inputs.length));
    return form(tensorsInFrame(count)) as Result;
  };
  const dispose = () => release(step);
  return Object.defineProperties(play as Captured<Inputs, Result>, {
    dispose: { value: dispose },
    disposed: { get: () => step.disposed },
    [disposeSymbol]: { value: dispose },
  });
}

function writeHandles(tensors: readonly Tensor[]): void {
  const handles = tensors.map((tensor) => handleOf(tensor));
  frameOf(handles.length).set(handles);
}

function tensorsInFrame(count: number): Tensor[] {
  // The words are copied first because making a tensor may write to the frame.
  return Array.from(frameOf(count).subarray(0, count), (handle) => handle).map(
    (handle) => new Tensor(handle),
  );
}
