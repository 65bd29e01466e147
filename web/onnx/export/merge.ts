// Dynamic axes: a function is traced at several sizes, and numbers that differ between the traces depend on the sizes. This needs no
// symbolic tensors: however the function computes a number, the traces show the result.

import { arange, type Tensor } from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { DynamicAxes } from "./options.js";
import type { Traced } from "./trace.js";
import { isPlain, type Step, sizeOf, Value } from "./values.js";

const kWhere = "onnx.save";

/** Returns the sizes of every dynamic axis at which to trace: lists of sizes by the name of the axis. */
export function sizesToTry(sizes: ReadonlyMap<string, number>): Map<string, number>[][] {
  const names = [...sizes.keys()];
  if (names.length === 0) return [];
  const grown = (change: (size: number, place: number, trace: number) => number) =>
    [0, 1, 2].map(
      (trace) =>
        new Map(names.map((name, place) => [name, change(sizes.get(name) ?? 1, place, trace)])),
    );
  return [
    // A size of 1 would broadcast, which other sizes do not.
    grown((size, place, trace) => Math.max(size, 2) + trace * (2 * place + trace + 1)),
    grown((size, place, trace) => Math.max(size, 1) * (trace + 2 + (trace > 0 ? place : 0))),
    grown((size, place, trace) => Math.max(2, size - trace * (place + trace + 1))),
  ].filter((sets) => new Set(sets.map((set) => [...set.values()].join())).size === 3);
}

/** Returns an input at other sizes, with its rows repeated or left out. */
export function resize(
  input: Tensor,
  axes: DynamicAxes,
  sizes: ReadonlyMap<string, number>,
): Tensor {
  let result = input.detach();
  for (const [dim, name] of axes) {
    const size = sizes.get(name) as number;
    const rows = arange(size, { dtype: "int64", device: input.device });
    result = result.indexSelect(dim, rows.remainder(Math.max(1, input.shape[dim] as number)));
  }
  return result;
}

/** Traces, merged into one. */
export interface Merged {
  readonly traced: Traced;
  /** The constants that the function created without ops, in every trace, for checkConstant(). */
  readonly constants: readonly (readonly Value[])[];
}

/** Returns the first trace, with a Varying in place of each number that differs in the others. */
export function merge(traces: readonly Traced[]): Merged {
  const [first] = traces as [Traced];
  if (traces.length === 1) return { traced: first, constants: [] };
  const merging = new Merging();
  for (const i of first.inputs.keys()) {
    merging.join(traces.map((trace) => trace.inputs[i] as Value));
  }
  const steps = first.steps.map((_, i) => merging.step(traces.map((trace) => trace.steps[i])));
  if (traces.some((trace) => trace.steps.length !== steps.length)) differs("the number of ops");
  merging.tree(
    traces.map((trace) => trace.result),
    "the result",
  );
  return { traced: { ...first, steps }, constants: merging.constants };
}

class Merging {
  readonly constants: (readonly Value[])[] = [];
  // For each value of the first trace, the corresponding values of all traces.
  readonly #versions = new Map<Value, readonly Value[]>();

  step(versions: readonly (Step | undefined)[]): Step {
    const [first] = versions as [Step];
    if (versions.some((version) => version?.op !== first.op)) {
      const names = versions.map((version) => version?.op ?? "nothing").join(", ");
      differs(`the op after which the traces part (${names}${first.path && ` in ${first.path}`})`);
    }
    const known = versions as readonly Step[];
    const where = `an argument of ${first.op}`;
    const values = this.tree(
      known.map((step) => step.values),
      where,
    ) as Step["values"];
    const hasSameParts = known.every((step) => step.parts.length === first.parts.length);
    const parts = hasSameParts
      ? first.parts.map((_, i) => this.step(known.map((step) => step.parts[i])))
      : [];
    for (const i of first.outputs.keys()) this.join(known.map((step) => step.outputs[i] as Value));
    return { ...first, values, parts };
  }

  /** Records that these values correspond to each other, and their sizes in each trace. */
  join(versions: readonly Value[]): void {
    const [first] = versions as [Value];
    const known = this.#versions.get(first);
    if (known !== undefined) {
      if (versions.some((version, i) => version !== known[i])) differs("the order of the ops");
      return;
    }
    this.#versions.set(first, versions);
    if (versions.some((version) => version.rank !== first.rank))
      differs("the number of dimensions of a tensor");
    first.shapes = versions.map((version) => version.shape);
    if (first.origin === "constant") this.constants.push(versions);
  }

  /** Merges trees of arguments. */
  tree(versions: readonly unknown[], where: string): unknown {
    const [first] = versions;
    if (Array.isArray(first)) {
      if (versions.some((version) => !Array.isArray(version) || version.length !== first.length))
        differs(where);
      return first.map((_, i) =>
        this.tree(
          versions.map((version) => (version as unknown[])[i]),
          where,
        ),
      );
    }
    if (first instanceof Value) {
      if (!versions.every((version): version is Value => version instanceof Value)) differs(where);
      this.join(versions);
      return first;
    }
    if (typeof first === "number") {
      if (versions.some((version) => typeof version !== "number")) differs(where);
      return sizeOf(versions as number[]);
    }
    if (isPlain(first)) {
      const merged = Object.keys(first).map((key) => [
        key,
        this.tree(
          versions.map((version) => (version as Record<string, unknown>)[key]),
          where,
        ),
      ]);
      return Object.fromEntries(merged);
    }
    if (versions.some((version) => version !== first)) differs(where);
    return first;
  }
}

/**
 * Records how to compute a constant that differs between the traces. Throws if that is unknown, because a file cannot repeat what a
 * function computes without ops.
 */
export function checkConstant(versions: readonly Value[]): void {
  const [first, ...others] = versions as [Value, ...Value[]];
  if (others.every((other) => hasSameElements(first, other))) return;
  const elements = versions.map(({ data }) => Array.from(data?.dataSync() ?? [], Number));
  const [fill = 0] = elements[0] as number[];
  const isFilled = elements.every((list) => list.every((element) => Object.is(element, fill)));
  const count = elements[0]?.length ?? 0;
  const isList = others.every(({ shape }) => String(shape) === String(first.shape));
  if (isFilled) first.made = { fill };
  else if (isList && count <= kMostNumbers && elements.flat().every(Number.isInteger)) {
    const numbers = Array.from({ length: count }, (_, i) =>
      sizeOf(elements.map((list) => list[i] as number)),
    );
    first.made = { numbers };
  } else refuseConstant(first);
}

// A constant with more numbers than this is not a list of sizes.
const kMostNumbers = 64;

function refuseConstant(first: Value): never {
  fail(
    "InvalidArgument",
    kWhere,
    `a tensor of shape [${first.shape.join(", ")}] is made from numbers that depend on a dynamic axis, outside of ops. ` +
      "Make it with eg.arange(), eg.zeros(), eg.full() or another op, or leave the axis out of dynamicAxes.",
  );
}

function hasSameElements(a: Value, b: Value): boolean {
  if (String(a.shape) !== String(b.shape)) return false;
  const one: ArrayLike<unknown> = a.data?.dataSync() ?? [];
  const other: ArrayLike<unknown> = b.data?.dataSync() ?? [];
  return Array.prototype.every.call(one, (element, i) => Object.is(element, other[i]));
}

function differs(what: string): never {
  fail(
    "InvalidArgument",
    kWhere,
    `${what} depends on the size of a dynamic axis, as in a loop over it or a condition. ` +
      "Leave that axis out of dynamicAxes, or compute it by ops on whole tensors.",
  );
}
