// Functions of Python that backward calls: hooks, custom functions, and whole steps that are captured.

import type { ModeGuard, Tensor } from "edgegrad";
import type { Engine, PyFunction } from "./engine.js";
import type { Handles } from "./handles.js";
import { kNone, type Values } from "./values.js";

interface Context {
  saveForBackward(...tensors: (Tensor | null)[]): void;
  readonly savedTensors: (Tensor | null)[];
  readonly needsInputGrad: boolean[];
  [name: string]: unknown;
}

/** Returns the functions for hooks, custom functions, modes and captured steps. */
export function hookFunctions(eg: Engine, handles: Handles, values: Values) {
  const at = (handle: number) => handles.objects[handle] as Tensor;
  let fire: PyFunction;
  // Python keeps hooks under positive numbers, and contexts of functions under negative ones.
  // Contexts are known weakly, so that a graph that is freed frees Python's half as well.
  const contexts = new Map<number, WeakRef<Context>>();
  const numbers = new WeakMap<Context, number>();
  let next = 1;
  const modes = new Map<number, ModeGuard>();
  let lastMode = 0;
  const numberOf = (context: Context): number => {
    const known = numbers.get(context);
    if (known !== undefined) return known;
    const number = next++;
    numbers.set(context, number);
    contexts.set(number, new WeakRef(context));
    values.standIns.register(context, -number);
    return number;
  };
  const contextOf = (number: number) => contexts.get(number)?.deref() as Context;
  const tensorsOf = (list: readonly number[]) =>
    list.map((handle) => (handle < 0 ? null : at(handle)));
  // Calls a function of Python with a number and the description of a list.
  const calling = (given: PyFunction) => {
    const call = given.copy();
    return (context: Context, args: readonly unknown[]): unknown => {
      handles.depth++;
      try {
        return values.answered(call(numberOf(context), values.describe(args))) ?? null;
      } finally {
        handles.depth--;
      }
    };
  };
  return {
    /** Takes Python's function that runs a hook, and the one that learns that JavaScript has let go of a number. */
    listen(run: PyFunction, dropped: PyFunction): void {
      fire = run.copy();
      const forget = dropped.copy();
      values.forget = (key) => {
        if (key < 0) contexts.delete(-key);
        forget(key);
      };
    },
    /**
     * Registers the hook that Python keeps under `key`, by the method `name`. JavaScript knows no object of Python, so a hook that refers to
     * its own tensor is a cycle in Python alone, whose collector finds it. Returns the function that removes the hook.
     */
    hook(handle: number, key: number, name: string): () => void {
      const run = (value: Tensor | null) => {
        handles.depth++;
        try {
          const answer: number = fire(key, value === null ? kNone : handles.put(value));
          return answer < 0 ? undefined : at(answer);
        } finally {
          handles.depth--;
        }
      };
      values.standIns.register(run, key);
      type Register = (hook: typeof run) => { remove(): void };
      const tensor = at(handle) as unknown as Record<string, Register>;
      const registered = tensor[name]?.(run);
      return () => registered?.remove();
    },
    /** Returns the number of a class of autograd.Function, whose methods call Python; `jvp` and `vmap` are null where it has none. */
    customFunction(
      name: string,
      isOnce: boolean,
      generatesVmapRule: boolean,
      forward: PyFunction,
      backward: PyFunction,
      jvp: PyFunction | null,
      vmap: PyFunction | null,
    ): number {
      const [runForward, runBackward] = [calling(forward), calling(backward)];
      const made = class extends eg.autograd.Function {
        static override readonly onceDifferentiable = isOnce;
        static override forward(context: unknown, ...args: unknown[]): unknown {
          return runForward(context as Context, args);
        }
        static override backward(context: unknown, ...grads: unknown[]): never {
          return runBackward(context as Context, grads) as never;
        }
      };
      Object.defineProperty(made, "name", { value: name });
      if (generatesVmapRule) Object.assign(made, { generateVmapRule: true });
      if (jvp) {
        const run = calling(jvp);
        Object.assign(made, {
          jvp: (context: Context, ...tangents: unknown[]) => run(context, tangents),
        });
      }
      if (vmap) Object.assign(made, { vmap: values.callback(vmap) });
      return handles.put((...args: never[]) => made.apply(...args));
    },
    /** The methods of a context that take tensors. */
    context(number: number, method: string, ...tensors: number[]): void {
      const call = contextOf(number)[method] as (...given: unknown[]) => void;
      call.apply(contextOf(number), tensorsOf(tensors));
    },
    materialize(number: number, value: boolean): void {
      (contextOf(number).setMaterializeGrads as (value: boolean) => void)(value);
    },
    saved: (number: number) => values.describe(contextOf(number).savedTensors),
    needs: (number: number) => values.describe(contextOf(number).needsInputGrad),
    /** Enters a mode: `name` is a path to a function that returns a guard. Returns the number by which endMode() ends it. */
    mode(path: string, signature: string, ...flat: unknown[]): number {
      const call = path
        .split(".")
        .reduce<unknown>((object, name) => (object as Record<string, unknown>)[name], eg);
      const args = values.reader(signature)(flat);
      const guard = (call as (...args: unknown[]) => ModeGuard)(...args);
      modes.set(++lastMode, guard);
      return lastMode;
    },
    /** Ends a mode. */
    endMode(number: number): void {
      modes.get(number)?.[Symbol.dispose]();
      modes.delete(number);
    },
    /** Leaves a mode on for good. */
    keepMode: (number: number) => modes.delete(number),
    /** Ends the modes that are none of these, the last one first: those that an interrupt has left. */
    sweepModes(...live: number[]): void {
      for (const [number, guard] of [...modes].reverse()) {
        if (live.includes(number)) continue;
        guard[Symbol.dispose]();
        modes.delete(number);
      }
    },
    /** Captures a step, a function of numbers to a number or nothing; returns the number of the captured function. */
    capture(step: PyFunction, ...inputs: number[]): number {
      const call = step.copy();
      handles.depth++;
      try {
        const run = (...tensors: Tensor[]) => {
          const answer: unknown = call(...tensors.map((tensor) => handles.put(tensor)));
          if (typeof answer === "number") return answer < 0 ? null : at(answer);
          return (answer as number[]).map(at);
        };
        return handles.put(eg.capture(run as (...tensors: Tensor[]) => Tensor, ...inputs.map(at)));
      } finally {
        handles.depth--;
        call.destroy();
      }
    },
  };
}
