// Tensor.at() and Tensor.set_(): PyTorch's x[...] with integers, slices, new axes and dots.

import { slice as sliceOp } from "../generated/internal.js";
import { copy_, select, unsqueeze } from "../generated/ops.js";
import type { Operand } from "../ops/types.js";
import { checked, native } from "../runtime/bridge.js";
import { describe, EdgeGradError, fail } from "../runtime/errors.js";
import { handleOf } from "./info.js";
import { Tensor } from "./tensor.js";

/** A range of positions along one dimension. */
export class Slice {
  constructor(
    readonly start: number | null,
    readonly end: number | null,
    readonly step: number,
  ) {}
}

/** Returns the range start <= i < end in steps; null means "to the end". Negative counts from the end. */
export function slice(start: number | null = null, end: number | null = null, step = 1): Slice {
  return new Slice(start, end, step);
}

/** One index of `at` and `set_`: a position, a range, a new axis (null) or the remaining axes. */
export type Index = number | Slice | null | "...";

/** Returns the view x[index...]. */
export function at(tensor: Tensor, index: readonly Index[]): Tensor {
  return viewAt(tensor, index, "at");
}

/** Writes a value into x[index...]. */
export function setAt(tensor: Tensor, index: readonly Index[], value: Operand): void {
  const view = viewAt(tensor, index, "set_");
  try {
    copy_(view, value);
  } finally {
    view.dispose();
  }
}

function viewAt(tensor: Tensor, index: readonly Index[], name: string): Tensor {
  const { shape } = tensor;
  const used = index.filter((one) => typeof one === "number" || one instanceof Slice).length;
  if (used > shape.length) {
    fail(
      "IndexOutOfRange",
      name,
      `too many indices for tensor of dimension ${shape.length}: got ${used}.`,
    );
  }
  if (index.indexOf("...") !== index.lastIndexOf("...")) {
    fail("InvalidArgument", name, "an index can have '...' only once.");
  }
  let view: Tensor | null = null;
  let dim = 0;
  for (const one of index) {
    if (one === "...") {
      dim += shape.length - used;
      continue;
    }
    const previous: Tensor | null = view;
    try {
      view = applyIndex(previous ?? tensor, one, dim, name);
    } finally {
      previous?.dispose();
    }
    if (typeof one !== "number") dim++;
  }
  return view ?? new Tensor(checked(native.retain(handleOf(tensor))));
}

function applyIndex(view: Tensor, index: Index, dim: number, name: string): Tensor {
  if (index === null) return unsqueeze(view, dim);
  if (index instanceof Slice) return sliceOp(view, dim, index.start, index.end, index.step);
  if (typeof index === "number") return selectAt(view, index, dim, name);
  fail(
    "InvalidArgument",
    name,
    `an index is an integer, eg.slice(), null or '...', got ${describe(index)}. ` +
      "For a mask use where() or maskedFill(), for a list of positions indexSelect().",
  );
}

function selectAt(view: Tensor, position: number, dim: number, name: string): Tensor {
  const size = view.shape[dim] ?? 0;
  if (!Number.isInteger(position)) {
    fail("InvalidArgument", name, `an index is a whole number, got ${position}.`);
  }
  if (position < -size || position >= size) {
    throw new EdgeGradError(
      "IndexOutOfRange",
      `[${name}] index ${position} is out of bounds for dimension ${dim} with size ${size}.`,
    );
  }
  return select(view, dim, position);
}
