// Rules for ops on shapes: views, copies with another shape, and joining tensors.

import {
  asStrided,
  cat,
  diag,
  diagonal,
  expand,
  flatten,
  ones,
  pad,
  reshape,
  roll,
  squeeze,
  stack,
  transpose,
  unsqueeze,
  where,
  zerosLike,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Call, type Result, type Rule, range } from "./call.js";
import { countOf, shiftDim, shifted } from "./dims.js";

const listOf = (value: unknown): number[] => (Array.isArray(value) ? value : [value as number]);

// Returns the sizes of a sample with -1 replaced by its value, which cannot be inferred for a batch of size 0.
function knownSizes(call: Call, sizes: readonly number[]): number[] {
  const hole = sizes.indexOf(-1);
  if (hole < 0 || sizes.lastIndexOf(-1) !== hole) return [...sizes];
  const others = sizes.reduce((product, size, i) => (i === hole ? product : product * size), 1);
  const size = others === 0 ? -1 : countOf(call.batch("input")) / others;
  return sizes.map((other, i) => (i === hole && Number.isInteger(size) ? size : other));
}

const withShape: Rule = (call) => {
  const shape = knownSizes(call, listOf(call.value("shape")));
  return call.run({ input: call.batch("input"), shape: [call.size, ...shape] });
};

function expanded(call: Call, sizes: readonly number[]): Tensor {
  const batch = call.batch("input");
  const missing = Math.max(sizes.length - call.rank("input"), 0);
  const full = reshape(batch, [call.size, ...new Array(missing).fill(1), ...batch.shape.slice(1)]);
  return expand(full, [call.size, ...sizes]);
}

const sampleShape = (call: Call, name: string): number[] => call.value<Tensor>(name).shape;

const flattened: Rule = (call) => {
  if (call.rank("input") === 0) return unsqueeze(call.batch("input"), 1);
  return shifted(call);
};

const unsqueezed: Rule = (call) => {
  const rank = call.rank("input") + 1;
  return call.run({
    input: call.batch("input"),
    dim: shiftDim("unsqueeze", call.value("dim"), rank),
  });
};

const squeezed: Rule = (call) => {
  const batch = call.batch("input");
  const rank = call.rank("input");
  if (rank === 0) return batch;
  const dims = call.value("dim");
  const ones = range(1, rank + 1).filter((dim) => batch.shape[dim] === 1);
  return dims === null ? squeeze(batch, ones) : shifted(call);
};

const transposed: Rule = (call) => {
  const batch = call.batch("input");
  return call.rank("input") < 2 ? batch : transpose(batch, 1, 2);
};

// As in PyTorch, strides and offset apply to each sample as if it were a separate tensor.
const strided: Rule = (call) => {
  if (call.level.outer !== null) return failNested();
  const batch = call.batch("input");
  const sizes = [call.size, ...listOf(call.value("size"))];
  const strides = [batch.strides[0] ?? 0, ...listOf(call.value("stride"))];
  return asStrided(
    batch,
    sizes,
    strides,
    (call.value("storageOffset") as number | null) ?? batch.offset,
  );
};

// Running sample by sample would return copies, and changes of these would not reach the tensor.
function failNested(): never {
  const message = "asStrided() is not supported in nested vmap() calls: use views by index.";
  return fail("InvalidArgument", "vmap", message);
}

const tiled = (name: string): Rule => {
  return (call) => {
    const repeats = listOf(call.value(name));
    const batch = call.batch("input");
    const missing = Math.max(repeats.length - call.rank("input"), 0);
    const padded = new Array(Math.max(call.rank("input") - repeats.length, 0)).fill(1);
    const input = reshape(batch, [
      call.size,
      ...new Array(missing).fill(1),
      ...batch.shape.slice(1),
    ]);
    return call.run({ input, [name]: [1, ...padded, ...repeats] });
  };
};

const rolled: Rule = (call) => {
  if (call.value("dims") !== null && listOf(call.value("dims")).length > 0) return shifted(call);
  const batch = call.batch("input");
  const flat = reshape(batch, [call.size, countOf(batch)]);
  return reshape(roll(flat, call.value("shifts"), 1), batch.shape);
};

const batches = (call: Call): Tensor[] =>
  call.value<Tensor[]>("tensors").map((tensor) => call.batchOf(tensor));

// As in PyTorch, empty vectors can be concatenated with tensors of any shape.
const concatenated: Rule = (call) => {
  const ranks = new Set(
    call.value<Tensor[]>("tensors").map((tensor) => call.operandOf(tensor).rank),
  );
  return ranks.size === 1 ? shifted(call) : null;
};

const stacked: Rule = (call) => {
  const tensors = batches(call);
  return stack(tensors, shiftDim("stack", call.value("dim"), tensors[0]?.ndim ?? 1) as number);
};

const atLeast = (batch: Tensor, rank: number): Tensor =>
  batch.ndim > rank
    ? batch
    : reshape(batch, [
        batch.shape[0] ?? 0,
        ...new Array(rank - batch.ndim + 1).fill(1),
        ...batch.shape.slice(1),
      ]);

const hstacked: Rule = (call) => {
  const tensors = batches(call).map((batch) => atLeast(batch, 1));
  return cat(tensors, tensors[0]?.ndim === 2 ? 1 : 2);
};

const vstacked: Rule = (call) =>
  cat(
    batches(call).map((batch) => atLeast(batch, 2)),
    1,
  );

const grid: Rule = (call) => {
  const vectors = batches(call).map((batch) => atLeast(batch, 1));
  const isXy = call.value("indexing") === "xy" && vectors.length > 1;
  const axes = range(0, vectors.length).map((i) => (isXy && i < 2 ? 1 - i : i));
  const sizes = axes.map((axis) => vectors[axis]?.shape[1] ?? 1);
  return vectors.map((vector, i) => {
    const shape = sizes.map((size, k) => (axes[k] === i ? size : 1));
    return expand(reshape(vector, [call.size, ...shape]), [call.size, ...sizes]);
  });
};

const diagonalOf: Rule = (call) => {
  const offset = call.value<number>("diagonal");
  const input = call.batch("input");
  if (call.rank("input") !== 1) return diagonal(input, offset, 1, 2);
  // The elements as rows, in which only the positions on the diagonal are kept.
  const count = input.shape[1] ?? 0;
  const rows = unsqueeze(pad(input, offset < 0 ? [-offset, 0] : [0, offset]), 2);
  return where(diag(ones([count], { device: input.device }), offset).gt(0), rows, zerosLike(rows));
};

const triangle: Rule = (call) =>
  call.rank("input") < 2 ? null : call.run({ input: call.batch("input") });

const repeatedElements: Rule = (call) => {
  if (call.value("repeats") instanceof Tensor) return null;
  if (call.value("dim") !== null) return shifted(call);
  return call.run({ input: flatten(atLeast(call.batch("input"), 1), 1), dim: 1 });
};

const likeOther = (call: Call): Result => expanded(call, sampleShape(call, "other"));

/** Returns the rules of ops on shapes. */
export const viewRules = (): Readonly<Record<string, Rule>> => ({
  view: withShape,
  reshape: withShape,
  viewAs: (call) => reshape(call.batch("input"), [call.size, ...sampleShape(call, "other")]),
  flatten: flattened,
  unflatten: shifted,
  transpose: shifted,
  swapaxes: shifted,
  t: transposed,
  permute: (call) =>
    call.run({
      input: call.batch("input"),
      dims: [
        0,
        ...listOf(call.value("dims")).map((dim) => shiftDim("permute", dim, call.rank("input"))),
      ],
    }),
  movedim: shifted,
  squeeze: squeezed,
  unsqueeze: unsqueezed,
  expand: (call) => expanded(call, listOf(call.value("size"))),
  expandAs: likeOther,
  broadcastTo: (call) => expanded(call, listOf(call.value("shape"))),
  asStrided: strided,
  slice: shifted,
  narrow: shifted,
  select: shifted,
  splitWithSizes: shifted,
  split: shifted,
  chunk: shifted,
  unbind: shifted,
  diagonal: shifted,
  unfold: shifted,
  cat: concatenated,
  stack: stacked,
  hstack: hstacked,
  vstack: vstacked,
  meshgrid: grid,
  repeat: tiled("repeats"),
  tile: tiled("dims"),
  flip: shifted,
  roll: rolled,
  rot90: shifted,
  tril: triangle,
  triu: triangle,
  diag: diagonalOf,
  trace: (call) => diagonal(call.batch("input"), 0, 1, 2).sum(-1),
  repeatInterleave: repeatedElements,
});
