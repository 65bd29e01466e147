// The calls that Python makes: one JavaScript function for each op and kind of arguments, numbers in, a number out.

import type { Tensor } from "edgegrad";
import type { Engine } from "./engine.js";
import type { Handles } from "./handles.js";
import { isIntegral, kNone, type Values } from "./values.js";

type Any = (...args: never[]) => unknown;
type Call = (...flat: unknown[]) => number;

/** Makes the functions through which Python calls JavaScript. */
export class Calls {
  constructor(
    private readonly eg: Engine,
    private readonly handles: Handles,
    private readonly values: Values,
  ) {}

  /** Returns what a dotted path from the package means; undefined if nothing. */
  resolve(path: string): unknown {
    const steps = path === "" ? [] : path.split(".");
    return steps.reduce<unknown>(
      (at, name) => (at as Record<string, unknown> | undefined)?.[name],
      this.eg,
    );
  }

  /** Returns the names of the functions and classes of a namespace, or with "Tensor" those of the methods, separated by commas; none if there is no such namespace. */
  names(path: string): string {
    if (path !== "Tensor") return Object.keys(this.resolve(path) ?? {}).join();
    const found = new Set<string>();
    let at: object | null = this.eg.Tensor.prototype;
    while (at !== null && at !== Object.prototype) {
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
        if (typeof value === "function") found.add(name);
      at = Object.getPrototypeOf(at);
    }
    return [...found].join();
  }

  /**
   * Returns the function that calls `name` of a namespace, or the method `name` if `path` is "Tensor" or "object", with arguments of a
   * signature. Its number is that of the result. `how` "hold" leaves the tensors in the arguments to the garbage collector; "new" makes an
   * object of a class; "void" ignores the result; "keep" is "hold" for the results and for what functions of Python are given as well.
   */
  op(path: string, name: string, signature: string, how: string): Call {
    const call = how === "new" ? this.#maker(path, name) : this.#function(path, name);
    const { handles, values } = this;
    const { objects } = handles;
    const answer = how === "void" ? () => kNone : (value: unknown) => values.answer(value);
    if (how === "" || how === "void") {
      if (signature === "t") return (a) => answer(call(objects[a as number]));
      if (signature === "tt")
        return (a, b) => answer(call(objects[a as number], objects[b as number]));
      if (signature === "tv") return (a, b) => answer(call(objects[a as number], b));
    }
    const read = values.reader(signature);
    if (how === "" || how === "void") return (...flat) => answer(call(...read(flat)));
    return (...flat) => {
      const args = read(flat);
      handles.hold(args);
      if (how !== "keep") return answer(call(...args));
      handles.keeping++;
      try {
        const value = call(...args);
        handles.hold(value);
        return answer(value);
      } finally {
        handles.keeping--;
      }
    };
  }

  #function(path: string, name: string): (...args: unknown[]) => unknown {
    if (path === "Tensor") return this.#methodOrFunction(name);
    if (path === "object")
      return (self, ...rest) => (self as Record<string, Any>)[name]?.apply(self, rest as never[]);
    if (path === "call") return (self, ...rest) => (self as Any)(...(rest as never[]));
    const owner = this.resolve(path) as Record<string, Any>;
    const call = owner[name] as Any;
    return (...args) => call.apply(owner, args as never[]);
  }

  // Some of PyTorch's methods are only functions here, and the methods of these names throw.
  #methodOrFunction(name: string): (...args: unknown[]) => unknown {
    const call = (this.eg as unknown as Record<string, Any>)[name];
    return (self, ...rest) => {
      try {
        return (self as Record<string, Any>)[name]?.apply(self, rest as never[]);
      } catch (error) {
        if (!/this is a function, not a method/.test((error as Error).message)) throw error;
        return call?.(...([self, ...rest] as never[]));
      }
    };
  }

  #maker(path: string, name: string): (...args: unknown[]) => unknown {
    const made = (this.resolve(path) as Record<string, unknown>)[name] as new (
      ...args: unknown[]
    ) => unknown;
    // An object of a class is held by its number, also where it is a tensor.
    return (...args) => new made(...args);
  }

  /** Returns the answer for a member of a namespace. */
  lookup(path: string, name: string): number {
    return this.values.answer((this.resolve(path) as Record<string, unknown> | undefined)?.[name]);
  }

  /** Returns the answer for a property of an object. */
  get(handle: number, name: string): number {
    return this.values.answer((this.values.object(handle) as Record<string, unknown>)[name]);
  }

  /** Sets a property of an object to the argument of a signature. */
  set(handle: number, name: string, signature: string, ...flat: unknown[]): void {
    const [value] = this.values.reader(signature)(flat);
    this.handles.hold(value);
    (this.values.object(handle) as Record<string, unknown>)[name] = value;
  }

  /** The ops that programs call most, as functions of their own: b_ two tensors, s_ a tensor and an integer, f_ and a float, u_ one. */
  hot(): Record<string, Call> {
    const { eg, handles } = this;
    const objects = handles.objects as Tensor[];
    const at = (handle: unknown) => objects[handle as number] as unknown as Record<string, Any>;
    const made: Record<string, Call> = {};
    const lift = (tensor: unknown, x: number): unknown =>
      Number.isInteger(x) && isIntegral((tensor as Tensor).dtype)
        ? eg.tensor(x, { dtype: eg.getDefaultDtype() })
        : x;
    for (const name of kBinary) {
      const isInPlace = name.endsWith("_");
      const answer = isInPlace ? () => kNone : (value: unknown) => handles.put(value);
      made[`b_${name}`] = (a, b) => answer(at(a)[name]?.(at(b) as never));
      made[`s_${name}`] = (a, x) => answer(at(a)[name]?.(x as never));
      made[`f_${name}`] = (a, x) => answer(at(a)[name]?.(lift(at(a), x as number) as never));
    }
    for (const name of kUnary) made[`u_${name}`] = (a) => handles.put(at(a)[name]?.());
    made.at = (a, i) => handles.put((objects[a as number] as Tensor).at(i as number));
    made.rows = (a, start, end, step) => {
      const rows = eg.slice(start as number | null, end as number | null, (step ?? 1) as number);
      return handles.put((objects[a as number] as Tensor).at(rows));
    };
    made.linear = (x, w, b) =>
      handles.put(
        eg.nn.functional.linear(
          objects[x as number] as Tensor,
          objects[w as number] as Tensor,
          (b === 0 ? null : objects[b as number]) as Tensor,
        ),
      );
    return made;
  }
}

const kBinary = [
  ..."add sub mul div matmul pow eq ne lt le gt ge remainder floorDivide".split(" "),
  ..."bitwiseAnd bitwiseOr bitwiseXor bitwiseLeftShift bitwiseRightShift bmm mm".split(" "),
  ..."add_ sub_ mul_ div_ pow_ remainder_ floorDivide_ bitwiseAnd_ bitwiseOr_ bitwiseXor_".split(
    " ",
  ),
];

const kUnary =
  "relu exp log tanh sigmoid neg sqrt square abs sin cos detach clone sum mean reciprocal bitwiseNot".split(
    " ",
  );
