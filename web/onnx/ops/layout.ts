// Ops that change the shape of a tensor or move its elements.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Host, hostInt, hostInts, kMostHostElements } from "../values/host.js";
import { broadcastShape, expand, sizeOf } from "../values/host_math.js";
import { ints, intsOf, shapeOf, tensor, type Value } from "../values/value.js";
import { axesOf, axisOf, range } from "./axes.js";
import { flag, ignored, int, maybeInt, maybeInts, type Ops, op, string } from "./op.js";

/** Resolves the sizes of Reshape: 0 keeps a size, -1 takes the rest. */
function meantShape(x: readonly number[], wanted: readonly number[], allowZero: boolean): number[] {
  const sizes = wanted.map((size, i) => (size === 0 && !allowZero ? (x[i] ?? 0) : size));
  const open = sizes.indexOf(-1);
  if (open >= 0) {
    const rest = sizeOf(sizes.filter((_, i) => i !== open));
    sizes[open] = rest === 0 ? 0 : sizeOf(x) / rest;
  }
  const isSame = sizes.every(Number.isInteger) && sizeOf(sizes) === sizeOf(x);
  if (isSame) return sizes;
  return fail("ShapeMismatch", "OnnxModule", `the shape [${x}] cannot become [${wanted}].`);
}

const unsqueezed = (shape: readonly number[], axes: readonly number[]) => {
  const rank = shape.length + axes.length;
  const added = axesOf(axes, rank);
  if (new Set(added).size < axes.length) {
    fail("InvalidArgument", "OnnxModule", `the axes [${axes}] are not all different.`);
  }
  const left = [...shape];
  return range(rank).map((i) => (added.includes(i) ? 1 : (left.shift() as number)));
};

const squeezed = (shape: readonly number[], axes: readonly number[] | undefined) => {
  const dropped = axes === undefined ? undefined : axesOf(axes, shape.length);
  const odd = dropped?.find((axis) => shape[axis] !== 1);
  if (odd !== undefined)
    fail("ShapeMismatch", "OnnxModule", `axis ${odd} of the shape [${shape}] is not 1.`);
  return shape.filter((size, i) => (dropped === undefined ? size !== 1 : !dropped.includes(i)));
};

const flat = (shape: readonly number[], axis: number) => {
  const at = axis < 0 ? axis + shape.length : axis;
  return [sizeOf(shape.slice(0, at)), sizeOf(shape.slice(at))];
};

/** The positions of a slice along an axis: the first one, their count and the step between them. */
export function slicePlan(
  size: number,
  start: number,
  end: number,
  step: number,
): { first: number; count: number } {
  if (step === 0) fail("InvalidArgument", "OnnxModule", "a slice has the step 0.");
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clamp = (at: number) => Math.min(Math.max(at < 0 ? at + size : at, low), high);
  const first = clamp(start);
  return { first, count: Math.max(0, Math.ceil((clamp(end) - first) / step)) };
}

function sliceAxis(
  x: eg.Tensor,
  axis: number,
  start: number,
  end: number,
  step: number,
): eg.Tensor {
  const size = x.shape[axis] as number;
  const { first, count } = slicePlan(size, start, end, step);
  if (step > 0 && count === size && step === 1) return x;
  if (step === 1) return eg.narrow(x, axis, Math.min(first, size - count), count);
  if (count === 0) return eg.narrow(x, axis, 0, 0);
  const last = first + (count - 1) * step;
  const from = Math.min(first, last);
  const part = eg.narrow(x, axis, from, Math.abs(last - first) + 1);
  const index = [...range(axis).map(() => eg.slice()), eg.slice(null, null, Math.abs(step))];
  const result = part.at(...index);
  return step > 0 ? result : eg.flip(result, [axis]);
}

const kSliceAttributes = { axes: maybeInts, starts: maybeInts, ends: maybeInts };

const slice = op({
  attributes: kSliceAttributes,
  settings: [1, 2, 3, 4],
  run: ([input, starts, ends, axes, steps], attributes) => {
    const x = tensor(input);
    const from = ints(starts) ?? attributes.starts ?? [];
    const to = ints(ends) ?? attributes.ends ?? [];
    const dims = axesOf(ints(axes) ?? attributes.axes ?? range(from.length), x.ndim);
    const by = ints(steps) ?? dims.map(() => 1);
    return dims.reduce(
      (all, axis, i) => sliceAxis(all, axis, from[i] ?? 0, to[i] ?? 0, by[i] ?? 1),
      x,
    );
  },
  host: ([x, starts, ends, axes, steps], attributes) => {
    const from = starts?.data ?? attributes.starts ?? [];
    const to = ends?.data ?? attributes.ends ?? [];
    const dims = axes?.data ?? attributes.axes ?? [0];
    if (x?.shape.length !== 1 || from.length !== 1 || dims.length !== 1) return undefined;
    const step = steps?.data[0] ?? 1;
    const { first, count } = slicePlan(x.data.length, from[0] as number, to[0] as number, step);
    const data = range(count).map((i) => x.data[first + i * step] as number);
    return new Host(x.type, [count], data);
  },
});

// The sizes are an attribute or an input, or follow from the number of outputs.
const split = op({
  attributes: { axis: int(0), split: maybeInts, num_outputs: maybeInt },
  settings: [1],
  run: ([input, sizes], { axis, split, num_outputs }, { wanted }) => {
    const x = tensor(input);
    const size = x.shape[axisOf(axis, x.ndim)] as number;
    const given = ints(sizes) ?? split;
    const count = num_outputs ?? wanted.length;
    const each = Math.ceil(size / count);
    const equal = range(count).map((i) => Math.max(0, Math.min(each, size - i * each)));
    return eg.splitWithSizes(x, [...(given ?? equal)], axis);
  },
});

const shape = op({
  attributes: { start: int(0), end: maybeInt },
  ownTypes: true,
  run: ([x], { start, end }) => hostInts(shapeOf(x).slice(start, end)),
});

const tile = op({
  settings: [1, 2],
  run: ([input, repeats, axis], _, { version }) => {
    const x = tensor(input);
    const counts = intsOf(repeats, "repeats");
    if (version >= 6) return eg.tile(x, counts);
    const dim = ints(axis)?.[0] ?? 0;
    return eg.tile(
      x,
      range(x.ndim).map((i) => (i === dim ? (counts[0] as number) : 1)),
    );
  },
});

function blocks(
  input: Value,
  blocksize: number,
  order: readonly number[],
  toDepth: boolean,
): eg.Tensor {
  const x = tensor(input);
  const [n = 0, c = 0, h = 0, w = 0] = x.shape;
  const b = blocksize;
  if (toDepth) {
    const parts = x.reshape([n, c, h / b, b, w / b, b]).permute(order);
    return parts.reshape([n, c * b * b, h / b, w / b]);
  }
  const inner = c / (b * b);
  const parts = x.reshape(order[1] === 3 ? [n, b, b, inner, h, w] : [n, inner, b, b, h, w]);
  return parts.permute(order).reshape([n, inner, h * b, w * b]);
}

export const kLayout: Ops = {
  Identity: op({ run: ([x]) => [x], host: ([x]) => x }),
  Reshape: op({
    texts: true,
    attributes: { shape: maybeInts, allowzero: flag(false), consumed_inputs: ignored },
    settings: [1],
    run: ([input, wanted], { shape: old, allowzero }) => {
      const x = tensor(input);
      return x.reshape(meantShape(x.shape, ints(wanted) ?? old ?? [], allowzero));
    },
    host: ([x, wanted], { allowzero }) =>
      x && wanted && new Host(x.type, meantShape(x.shape, wanted.data, allowzero), x.data),
  }),
  Flatten: op({
    texts: true,
    attributes: { axis: int(1) },
    run: ([input], { axis }) => {
      const x = tensor(input);
      return x.reshape(flat(x.shape, axis));
    },
    host: ([x], { axis }) => x && new Host(x.type, flat(x.shape, axis), x.data),
  }),
  Squeeze: op({
    texts: true,
    attributes: { axes: maybeInts },
    settings: [1],
    run: ([input, axes], attributes) => {
      const x = tensor(input);
      return x.reshape(squeezed(x.shape, ints(axes) ?? attributes.axes));
    },
    host: ([x, axes], attributes) =>
      x && new Host(x.type, squeezed(x.shape, axes?.data ?? attributes.axes), x.data),
  }),
  Unsqueeze: op({
    texts: true,
    attributes: { axes: maybeInts },
    settings: [1],
    run: ([input, axes], attributes) => {
      const x = tensor(input);
      return x.reshape(unsqueezed(x.shape, ints(axes) ?? attributes.axes ?? []));
    },
    host: ([x, axes], attributes) =>
      x && new Host(x.type, unsqueezed(x.shape, axes?.data ?? attributes.axes ?? []), x.data),
  }),
  Transpose: op({
    attributes: { perm: maybeInts },
    run: ([input], { perm }) => {
      const x = tensor(input);
      return eg.permute(x, perm ?? range(x.ndim).reverse());
    },
    host: ([x]) => (x && x.shape.length < 2 ? x : undefined),
  }),
  Concat: op({
    attributes: { axis: int(1) },
    run: (inputs, { axis }) => eg.cat(inputs.map(tensor), axis),
    host: (inputs) => {
      if (!inputs.every(({ shape: { length } }) => length === 1)) return undefined;
      const data = inputs.flatMap((input) => input.data);
      return data.length > kMostHostElements
        ? undefined
        : new Host((inputs[0] as Host).type, [data.length], data);
    },
  }),
  Split: split,
  Slice: slice,
  Expand: op({
    since: 8,
    settings: [1],
    run: ([input, wanted]) => {
      const x = tensor(input);
      return x.expand(broadcastShape(x.shape, intsOf(wanted, "shape")));
    },
    host: ([x, wanted]) => {
      const sizes = x && wanted && broadcastShape(x.shape, wanted.data);
      return sizes && sizeOf(sizes) <= kMostHostElements ? expand(x, sizes) : undefined;
    },
  }),
  Tile: tile,
  Shape: shape,
  Size: op({ ownTypes: true, run: ([x]) => hostInt(sizeOf(shapeOf(x))) }),
  DepthToSpace: op({
    attributes: { blocksize: int(1), mode: string("DCR") },
    run: ([x], { blocksize, mode }) =>
      blocks(x, blocksize, mode === "CRD" ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2], false),
  }),
  SpaceToDepth: op({
    attributes: { blocksize: int(1) },
    run: ([x], { blocksize }) => blocks(x, blocksize, [0, 3, 5, 1, 2, 4], true),
  }),
  Trilu: op({
    since: 14,
    attributes: { upper: flag(true) },
    settings: [1],
    run: ([x, k], { upper }) => (upper ? eg.triu : eg.tril)(tensor(x), ints(k)?.[0] ?? 0),
  }),
  ReverseSequence: op({
    since: 10,
    attributes: { batch_axis: int(1), time_axis: int(0) },
    run: ([input, lengths], { batch_axis, time_axis }) => {
      const x = tensor(input);
      const time = x.shape[time_axis] as number;
      const places = intsOf(lengths, "sequence_lens").map((length) =>
        range(time).map((i) => (i < length ? length - 1 - i : i)),
      );
      const index = eg.tensor(places, { dtype: "int64", device: x.device });
      const ordered = batch_axis < time_axis ? index : index.t();
      const sizes = x.shape.map((size, i) => (i === batch_axis || i === time_axis ? size : 1));
      return eg.gather(x, time_axis, ordered.reshape(sizes).expand(x.shape));
    },
  }),
  CenterCropPad: op({
    since: 18,
    attributes: { axes: maybeInts },
    settings: [1],
    run: ([input, wanted], { axes }) => {
      const x = tensor(input);
      const sizes = intsOf(wanted, "shape");
      return axesOf(axes, x.ndim).reduce(
        (all, axis, i) => center(all, axis, sizes[i] as number),
        x,
      );
    },
  }),
};

function center(x: eg.Tensor, axis: number, wanted: number): eg.Tensor {
  const size = x.shape[axis] as number;
  if (size >= wanted) return eg.narrow(x, axis, Math.floor((size - wanted) / 2), wanted);
  const before = Math.floor((wanted - size) / 2);
  const after = range(x.ndim - 1 - axis).flatMap(() => [0, 0]);
  return eg.pad(x, [...after, before, wanted - size - before]);
}
