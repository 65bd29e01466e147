// Max, average and Lp pooling.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { chained } from "../values/chained.js";
import { sizeOf } from "../values/host_math.js";
import { ints, tensor, type Value } from "../values/value.js";
import { range } from "./axes.js";
import { flag, int, type Op, type Ops, op, type ValuesOf } from "./op.js";
import { isSymmetric, kWindow, padBy, type Windows, windowsOn } from "./windows.js";

const kPool = { ...kWindow, ceil_mode: flag(false) };
const kMax = { ...kPool, storage_order: int(0) };
const kAverage = { ...kPool, count_include_pad: flag(false) };

/** Returns by how many elements the last windows exceed the padding, which ceil_mode allows. */
function excess(spatial: readonly number[], windows: Windows, ceil: boolean): number[] {
  return spatial.map((size, i) => {
    const { kernel, strides, dilations, before, after } = windows;
    const stride = strides[i] as number;
    const reach = ((kernel[i] as number) - 1) * (dilations[i] as number) + 1;
    const padded = size + (before[i] as number) + (after[i] as number);
    if (!ceil) return 0;
    let count = Math.ceil((padded - reach) / stride) + 1;
    // A window must not begin in the padding after the input.
    if ((count - 1) * stride >= size + (before[i] as number)) count--;
    return Math.max(0, (count - 1) * stride + reach - padded);
  });
}

const sumsOf = (a: readonly number[], b: readonly number[]) =>
  a.map((size, i) => size + (b[i] as number));

function maxPool(
  x: eg.Tensor,
  windows: Windows,
  withIndices: boolean,
): [eg.Tensor, eg.Tensor | null] {
  const { rank, kernel, strides, dilations } = windows;
  const options = { stride: strides, dilation: dilations };
  // Pooling needs floats, which represent the small integers that ONNX allows here exactly.
  const isFloat = x.isFloatingPoint();
  const input = padBy(isFloat ? x : x.to("float32"), windows.before, windows.after, -Infinity);
  const run = [eg.maxPool1d, eg.maxPool2d, eg.maxPool3d][rank - 1];
  if (run === undefined)
    return fail("ShapeMismatch", "OnnxModule", `a pool over ${rank} axes; there are 1 to 3.`);
  if (!withIndices) {
    const pooled = run(input, kernel, options) as eg.Tensor;
    return [isFloat ? pooled : pooled.to(x.dtype), null];
  }
  const [values, indices] = run(input, kernel, { ...options, returnIndices: true });
  return [isFloat ? values : values.to(x.dtype), indices];
}

// Converts positions in a padded plane to positions in the whole tensor, with the last spatial axes in either order.
function wholePositions(
  x: eg.Tensor,
  indices: eg.Tensor,
  windows: Windows,
  isColumnMajor: boolean,
): eg.Tensor {
  const spatial = x.shape.slice(2);
  const padded = sumsOf(sumsOf(spatial, windows.before), windows.after);
  const strides = isColumnMajor
    ? spatial.map((_, i) => sizeOf(spatial.slice(0, i)))
    : spatial.map((_, i) => sizeOf(spatial.slice(i + 1)));
  let left = indices;
  let flat: eg.Tensor | null = null;
  for (const axis of range(spatial.length).reverse()) {
    const size = padded[axis] as number;
    const at = eg.remainder(left, size).sub(windows.before[axis] as number);
    const part = at.mul(strides[axis] as number);
    flat = flat === null ? part : flat.add(part);
    left = eg.floorDivide(left, size);
  }
  const planes = sizeOf(x.shape.slice(0, 2));
  const firsts = eg.arange(planes, { dtype: "int64", device: x.device }).mul(sizeOf(spatial));
  const shape = [...x.shape.slice(0, 2), ...spatial.map(() => 1)];
  return (flat ?? indices).add(firsts.reshape(shape));
}

const maxPoolOp = op({
  attributes: kMax,
  run: ([input], given, { wanted }) => {
    const x = tensor(input);
    const spatial = x.shape.slice(2);
    const own = windowsOn(spatial, given.kernel_shape ?? [], given);
    const windows = { ...own, after: sumsOf(own.after, excess(spatial, own, given.ceil_mode)) };
    const [values, indices] = maxPool(x, windows, wanted[1] === true);
    if (indices === null) return values;
    return [values, wholePositions(x, indices, windows, given.storage_order === 1)];
  },
});

// Averaging a mask of ones and zeros gives the fraction of elements that count.
function averagePool(x: eg.Tensor, windows: Windows): eg.Tensor {
  const { rank, kernel, strides, dilations } = windows;
  if (dilations.some((dilation) => dilation !== 1)) return dilatedMean(x, windows);
  const run = [eg.avgPool1d, eg.avgPool2d, eg.avgPool3d][rank - 1];
  if (run === undefined)
    return fail("ShapeMismatch", "OnnxModule", `a pool over ${rank} axes; there are 1 to 3.`);
  return run(x, kernel, { stride: strides });
}

function dilatedMean(x: eg.Tensor, { rank, kernel, strides, dilations }: Windows): eg.Tensor {
  const channels = x.shape[1] as number;
  const weight = eg.full([channels, 1, ...kernel], 1 / sizeOf(kernel), {
    dtype: x.dtype,
    device: x.device,
  });
  const run = [eg.conv1d, eg.conv2d, eg.conv3d][rank - 1] as typeof eg.conv2d;
  return run(x, weight, { stride: strides, dilation: dilations, groups: channels });
}

const averagePoolOp = op({
  attributes: kAverage,
  run: ([input], given) => {
    const x = tensor(input);
    const spatial = x.shape.slice(2);
    const windows = windowsOn(spatial, given.kernel_shape ?? [], given);
    return countedMean(
      x,
      windows,
      excess(spatial, windows, given.ceil_mode),
      given.count_include_pad,
    );
  },
});

function countedMean(
  x: eg.Tensor,
  windows: Windows,
  more: readonly number[],
  includesPadding: boolean,
): eg.Tensor {
  const { before, after } = windows;
  const end = sumsOf(after, more);
  const isExact = more.every((pad) => pad === 0) && (includesPadding || isUnpadded(windows));
  const mean = averagePool(padBy(x, before, end, 0), windows);
  if (isExact) return mean;
  const ones = eg.ones([1, 1, ...x.shape.slice(2)], { dtype: x.dtype, device: x.device });
  const counted = includesPadding
    ? padBy(padBy(ones, before, after, 1), zeros(more), more, 0)
    : padBy(ones, before, end, 0);
  return mean.div(averagePool(counted, windows));
}

const zeros = (list: readonly number[]) => list.map(() => 0);
const isUnpadded = (windows: Windows) =>
  isSymmetric(windows) && windows.before.every((pad) => pad === 0);

const lpPool = op({
  attributes: { ...kPool, p: int(2) },
  run: ([input], given) => {
    const x = tensor(input);
    const spatial = x.shape.slice(2);
    const windows = windowsOn(spatial, given.kernel_shape ?? [], given);
    const end = sumsOf(windows.after, excess(spatial, windows, given.ceil_mode));
    return chained(
      x,
      (y) => padBy(y, windows.before, end, 0),
      eg.abs,
      (y) => eg.pow(y, given.p),
      (y) => averagePool(y, windows),
      (y) => y.mul(sizeOf(windows.kernel)),
      (y) => eg.pow(y, 1 / given.p),
    );
  },
});

function overPlane(
  run: (x: eg.Tensor, dims: number[]) => eg.Tensor,
  more: Op["attributes"] = {},
): Op {
  return op({
    attributes: more,
    run: ([input]) => {
      const x = tensor(input);
      return run(x, range(x.ndim).slice(2));
    },
  });
}

function maxUnpool(
  [input, indices, shape]: readonly Value[],
  given: ValuesOf<typeof kWindow>,
): eg.Tensor {
  const x = tensor(input);
  const spatial = x.shape.slice(2);
  const kernel = given.kernel_shape ?? [];
  const { strides, before, after } = windowsOn(spatial, kernel, given);
  const natural = spatial.map((size, i) => {
    const grown = (size - 1) * (strides[i] as number) + (kernel[i] as number);
    return grown - (before[i] as number) - (after[i] as number);
  });
  const planes = x.shape.slice(0, 2);
  const whole = ints(shape) ?? [...planes, ...natural];
  // The positions refer to a tensor of the default size.
  const each = sizeOf(natural);
  const plane = eg.remainder(tensor(indices).to("int64"), each).reshape([...planes, -1]);
  const empty = eg.zeros([...planes, each], { dtype: x.dtype, device: x.device });
  const filled = eg
    .scatter(empty, 2, plane, x.reshape([...planes, -1]))
    .reshape([...planes, ...natural]);
  const missing = natural.map((size, i) => (whole[i + 2] as number) - size);
  return padBy(filled, zeros(missing), missing, 0);
}

export const kPooling: Ops = {
  AveragePool: averagePoolOp,
  GlobalAveragePool: overPlane((x, dims) => eg.mean(x, dims, { keepdim: true })),
  GlobalLpPool: op({
    attributes: { p: int(2) },
    run: ([input], { p }) => {
      const x = tensor(input);
      return eg.norm(x, p, range(x.ndim).slice(2), { keepdim: true });
    },
  }),
  GlobalMaxPool: overPlane((x, dims) => eg.amax(x, dims, { keepdim: true })),
  LpPool: lpPool,
  MaxPool: maxPoolOp,
  MaxUnpool: op({ since: 9, attributes: kWindow, run: maxUnpool }),
};
