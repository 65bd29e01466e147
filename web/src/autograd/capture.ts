// eg.capture: a function that is run once and played from then on. C++ writes down the calls of kernels
// that it makes (src/kernels/captured_step.h); here is what of it is JavaScript's: inputs, results, and whose it is.

import { isPlainObject } from "../arguments/read.js";
import { functionOf } from "../arguments/rule.js";
import { checkedFor, frameOf, native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import { type Guard, setCapturing, takeGuards } from "../runtime/live.js";
import { handleOf } from "../tensor/info.js";
import { kUncloneable, leaveToFinalizer, release, type Wrapper } from "../tensor/lifetime.js";
import { tensorRule } from "../tensor/rules.js";
import { isPromise, scope } from "../tensor/scope.js";
import { disposeSymbol, Tensor } from "../tensor/tensor.js";

/** What a function that is captured may return. */
export type CaptureResult =
  | Tensor
  | readonly Tensor[]
  | Readonly<Record<string, Tensor>>
  // biome-ignore lint/suspicious/noConfusingVoidType: of a function that returns nothing.
  | void;

/** A function that was captured; see `capture`. */
export interface Captured<Inputs extends readonly Tensor[], Result> {
  /** Does what the function did when it was captured, for other values; returns new tensors. */
  (...inputs: Inputs): Result;
  /** Frees its memory. It cannot be called any more. */
  dispose(): void;
  /** True after dispose(). */
  readonly disposed: boolean;
  /** Like dispose(), for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Runs `fn` and returns a function that does the same again, much faster: what it computes is written down
 * once and then played, without `fn`, without graphs and without new memory.
 *
 * `fn` is run twice with copies of `inputs`, as in two calls: a step of training that is captured has made two
 * steps. The first run lets things come into being that later ones find (the state of optimizers, gradients);
 * the second is written down. Tensors made in it are freed as in `scope`. JavaScript in `fn` does not run again,
 * hooks included; what it has decided stays decided. Optimizers alone take their step anew, so that learning rates
 * may change.
 *
 * Calls take inputs of the same shapes, dtypes and devices. Tensors that `fn` finds outside (parameters, gradients)
 * are read and changed where they are. Refused are reading values (`item()`, shapes that depend on values), random
 * numbers, asynchronous functions and `backwardAsync`: what differs from call to call has to be an input.
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
    fail("InvalidArgument", kName, "a function that is being captured cannot capture another one.");
  }
  isRunning = true;
  try {
    scope(() => {
      const copies = inputs.map((input) => requiringAs(input, input.detach().clone()));
      resultOf(fn(...(copies as Inputs)));
    });
    return playable(written(fn, inputs));
  } finally {
    isRunning = false;
  }
}

const kName = "capture";
const kFunction = functionOf<(...inputs: never[]) => unknown>();

let isRunning = false;

// What a function has returned, as a list, and how to make the same of another list.
interface Form {
  readonly tensors: readonly Tensor[];
  readonly of: (tensors: Tensor[]) => unknown;
}

function resultOf(result: unknown): Form {
  if (isPromise(result)) {
    result.then(undefined, () => undefined);
    fail(
      "InvalidArgument",
      kName,
      "the function returned a promise: only synchronous ones can be captured.",
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

// A captured function that C++ holds.
class Step implements Wrapper {
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

// A copy that requires a gradient where the input does.
function requiringAs(input: Tensor, copy: Tensor): Tensor {
  return input.requiresGrad ? copy.requiresGrad_() : copy;
}

interface Written {
  readonly step: Step;
  readonly guards: readonly Guard[];
  readonly form: Form["of"];
}

function written(fn: (...inputs: never[]) => unknown, inputs: readonly Tensor[]): Written {
  return scope(() => {
    writeHandles(inputs);
    const handle = checkedFor(kName, native.beginCapture(inputs.length));
    try {
      const places = tensorsInFrame(inputs.length).map((place, i) =>
        requiringAs(inputs[i] as Tensor, place),
      );
      setCapturing(true);
      // What is freed in it can be used for what comes later in it.
      const form = scope(() => {
        return resultOf(fn(...(places as never[])));
      });
      setCapturing(false);
      writeHandles(form.tensors);
      checkedFor(kName, native.endCapture(handle, form.tensors.length));
      const step = new Step(handle, inputs.length);
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

function playable<Inputs extends Tensor[], Result>({
  step,
  guards,
  form,
}: Written): Captured<Inputs, Result> {
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
  // All words first: a new tensor may write to the frame.
  return Array.from(frameOf(count).subarray(0, count), (handle) => handle).map(
    (handle) => new Tensor(handle),
  );
}
