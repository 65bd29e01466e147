// Convolutions, pooling and interpolation.

import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Attribute, Attributes, Name } from "../graph.js";
import { type Size, Varying } from "../values.js";

/** Writes a node that needs a batch dimension, which is added to inputs without one. */
function withBatch(
  c: Call,
  dims: number,
  write: (x: Name) => readonly Name[] | Name,
): readonly Name[] | Name {
  const isSingle = c.value("input").rank === dims + 1;
  const input = isSingle
    ? c.unsqueeze(c.in("input", c.out.dtype), [0])
    : c.in("input", c.out.dtype);
  const result = write(input);
  if (!isSingle) return result;
  return typeof result === "string"
    ? c.squeeze(result, [0])
    : result.map((part) => c.squeeze(part, [0]));
}

// The elements that are added before and after each dimension.
function paddingOf(
  c: Call,
  dims: number,
  kernel: readonly number[],
  dilation: readonly number[],
): number[] {
  const padding = c.arg("padding");
  if (padding === "valid") return new Array(2 * dims).fill(0);
  if (padding !== "same") {
    const both = c.ints("padding", dims);
    return [...both, ...both];
  }
  const total = kernel.map((size, i) => (size - 1) * (dilation[i] as number));
  const before = total.map((pad) => Math.floor(pad / 2));
  return [...before, ...total.map((pad, i) => pad - (before[i] as number))];
}

function conv(dims: number): Writer {
  return (c) => {
    const kernel = c.value("weight").shape.slice(2);
    const dilations = c.ints("dilation", dims);
    const bias = c.optional("bias");
    return withBatch(c, dims, (x) =>
      c.node(
        "Conv",
        [x, c.in("weight", c.out.dtype), bias === null ? null : c.as(bias, c.out.dtype)],
        {
          kernel_shape: kernel,
          strides: c.ints("stride", dims),
          pads: paddingOf(c, dims, kernel, dilations),
          dilations,
          group: c.number("groups"),
        },
      ),
    );
  };
}

function convTranspose(dims: number): Writer {
  return (c) => {
    const both = c.ints("padding", dims);
    const bias = c.optional("bias");
    return withBatch(c, dims, (x) =>
      c.node(
        "ConvTranspose",
        [x, c.in("weight", c.out.dtype), bias === null ? null : c.as(bias, c.out.dtype)],
        {
          kernel_shape: c.value("weight").shape.slice(2),
          strides: c.ints("stride", dims),
          pads: [...both, ...both],
          output_padding: c.ints("outputPadding", dims),
          dilations: c.ints("dilation", dims),
          group: c.number("groups"),
        },
      ),
    );
  };
}

interface Window {
  readonly kernel_shape: readonly number[];
  readonly strides: readonly number[];
  readonly pads: readonly number[];
  readonly ceil_mode?: number;
  readonly dilations?: readonly number[];
  readonly [name: string]: Attribute | undefined;
}

function windowOf(c: Call, dims: number): Window {
  const kernel = c.ints("kernelSize", dims);
  const strides =
    c.isLeftOut("stride") || c.sizes("stride").length === 0 ? kernel : c.ints("stride", dims);
  const both = c.ints("padding", dims);
  const dilations = c.step.values.dilation === undefined ? undefined : c.ints("dilation", dims);
  const window: Window = { kernel_shape: kernel, strides, pads: [...both, ...both] };
  const own = dilations === undefined ? window : { ...window, dilations };
  if (!c.is("ceilMode")) return own;
  // Readers disagree on which of the last windows count, so padding is added until all windows fit.
  const [from, to] = [c.value("input"), c.out].map((value) => value.sizes().slice(-dims)) as [
    Size[],
    Size[],
  ];
  if ([...from, ...to].some((size) => size instanceof Varying)) return { ...own, ceil_mode: 1 };
  const after = kernel.map((size, i) => {
    const last = ((to[i] as number) - 1) * (strides[i] as number);
    const end = last + (size - 1) * (dilations?.[i] ?? 1) + 1;
    return Math.max(both[i] as number, end - (from[i] as number) - (both[i] as number));
  });
  return { ...own, pads: [...both, ...after] };
}

function maxPool(dims: number): Writer {
  return (c) => {
    const window = windowOf(c, dims);
    const { kernel_shape: kernel, pads } = window;
    if (pads.some((pad, i) => pad >= (kernel[i % dims] as number))) {
      if (c.is("returnIndices")) noForm("positions with windows that are outside of the input");
      return poolPadded(c, dims, window);
    }
    if (!c.is("returnIndices")) return withBatch(c, dims, (x) => c.node("MaxPool", [x], window));
    return withBatch(c, dims, (x) => {
      const [values, all] = c.graph.outputs("MaxPool", [x], window, 2) as [Name, Name];
      return [values, inPlane(c, all, dims)];
    });
  };
}

// Readers reject padding as large as a window, so the padding is a separate node.
function poolPadded(c: Call, dims: number, window: Window): readonly Name[] | Name {
  const { pads } = window;
  const around = c.list([0, 0, ...pads.slice(0, dims), 0, 0, ...pads.slice(dims)]);
  return withBatch(c, dims, (x) =>
    c.node("MaxPool", [c.node("Pad", [x, around, c.scalar(-Infinity)])], {
      ...window,
      pads: undefined,
    }),
  );
}

// ONNX counts positions in the whole tensor, PyTorch in each plane.
function inPlane(c: Call, positions: Name, dims: number): Name {
  const sizes = c.value("input").sizes().slice(-dims);
  const plane = c.reduce("ReduceProd", c.exporter.shape(sizes), [0], false);
  return c.node("Mod", [positions, plane]);
}

function avgPool(dims: number): Writer {
  return (c) => {
    if (isWholePlane(c, dims)) return withBatch(c, dims, (x) => c.node("GlobalAveragePool", [x]));
    if (!c.isLeftOut("divisorOverride")) return avgPoolBy(c, dims);
    const window = windowOf(c, dims);
    const attributes = { ...window, count_include_pad: c.is("countIncludePad") ? 1 : 0 };
    const both = c.ints("padding", dims);
    if (!c.is("countIncludePad") || String(window.pads) === String([...both, ...both])) {
      return withBatch(c, dims, (x) => c.node("AveragePool", [x], attributes));
    }
    // Only the requested padding counts.
    const pads = window.pads.map((pad, i) => pad - (both[i % dims] as number));
    const around = c.list([0, 0, ...both, 0, 0, ...both]);
    return withBatch(c, dims, (x) =>
      c.node("AveragePool", [c.node("Pad", [x, around])], {
        ...window,
        pads,
        count_include_pad: 0,
      }),
    );
  };
}

// Whether the window always has the size of the input.
function isWholePlane(c: Call, dims: number): boolean {
  const kernel = c.sizes("kernelSize", dims);
  const sizes = c.value("input").sizes().slice(-dims);
  const isDynamic = kernel.some((size) => size instanceof Varying);
  return isDynamic && kernel.every((size, i) => String(size) === String(sizes[i]));
}

function avgPoolBy(c: Call, dims: number): readonly Name[] | Name {
  const attributes = windowOf(c, dims);
  const count = attributes.kernel_shape.reduce((a, b) => a * b, 1);
  const by = c.scalar(count / c.number("divisorOverride"));
  return withBatch(c, dims, (x) =>
    c.node("Mul", [c.node("AveragePool", [x], { ...attributes, count_include_pad: 1 }), by]),
  );
}

// Pools to a given size: of the whole plane, by equal windows, or by matrices that average.
function adaptivePool(dims: number, type: "Average" | "Max"): Writer {
  return (c) => {
    const sizes = c.value("input").sizes().slice(-dims);
    const out = c.out.sizes().slice(-dims);
    if (type === "Max" && c.is("returnIndices")) noForm("positions of adaptive pooling");
    if (out.every((size) => size === 1)) {
      return withBatch(c, dims, (x) => c.node(`Global${type}Pool`, [x]));
    }
    if (out.every((size, i) => String(size) === String(sizes[i])))
      return c.node("Identity", [c.in("input")]);
    const from = sizes.map((size) => c.fixedNumber("the size of the input", size));
    const to = out.map((size) => c.fixedNumber("outputSize", size));
    const windows = from.map((size, i) => size / (to[i] as number));
    if (windows.every(Number.isInteger)) {
      return withBatch(c, dims, (x) =>
        c.node(`${type}Pool`, [x], { kernel_shape: windows, strides: windows }),
      );
    }
    return type === "Max" ? largestIn(c, from, to) : average(c, from, to);
  };
}

function average(c: Call, from: readonly number[], to: readonly number[]): Name {
  const { rank } = c.value("input");
  const dims = from.length;
  return from.reduce<Name>((name, size, i) => {
    const axis = rank - dims + i;
    const order = Array.from({ length: rank }, (_, k) => k);
    [order[axis], order[rank - 1]] = [rank - 1, axis];
    const matrix = c.node("Reshape", [
      averages(c, size, to[i] as number),
      c.list([size, to[i] as number]),
    ]);
    return c.transpose(c.node("MatMul", [c.transpose(name, order), matrix]), order);
  }, c.in("input"));
}

// The maximum of windows of different sizes, one dimension at a time.
function largestIn(c: Call, from: readonly number[], to: readonly number[]): Name {
  const { rank } = c.value("input");
  return from.reduce<Name>((name, size, i) => {
    const axis = rank - from.length + i;
    const count = to[i] as number;
    const parts = Array.from({ length: count }, (_, k) => {
      const window = c.slice(
        name,
        axis,
        Math.floor((k * size) / count),
        Math.ceil(((k + 1) * size) / count),
      );
      return c.reduce("ReduceMax", window, [axis], true);
    });
    return c.node("Concat", parts, { axis });
  }, c.in("input"));
}

// The weight of each element in each average.
function averages(c: Call, size: number, count: number): Name {
  const shares = Array.from({ length: size * count }, (_, i) => {
    const [row, column] = [Math.floor(i / count), i % count];
    const [start, end] = [
      Math.floor((column * size) / count),
      Math.ceil(((column + 1) * size) / count),
    ];
    return row >= start && row < end ? 1 / (end - start) : 0;
  });
  return c.graph.constant(shares, c.out.dtype);
}

const kResizeModes: Readonly<Record<string, string>> = {
  nearest: "nearest",
  "nearest-exact": "nearest",
  linear: "linear",
  bilinear: "linear",
  trilinear: "linear",
  bicubic: "cubic",
};

const interpolate: Writer = (c) => {
  const input = c.value("input");
  const mode = c.arg("mode") as string;
  if (mode === "area") return adaptivePool(input.rank - 2, "Average")(c);
  const type = kResizeModes[mode] ?? noForm(`resizing by ${mode}`);
  const isNearest = type === "nearest";
  const coordinates = isNearest
    ? mode === "nearest"
      ? "asymmetric"
      : "half_pixel"
    : c.is("alignCorners")
      ? "align_corners"
      : "half_pixel";
  const attributes: Attributes = {
    mode: type,
    coordinate_transformation_mode: coordinates,
    cubic_coeff_a: { float: -0.75 },
    nearest_mode: mode === "nearest" ? "floor" : "round_prefer_ceil",
  };
  const dims = input.rank - 2;
  // Given factors are used as they are, unless recomputeScaleFactor derives them from the sizes.
  if (!c.isLeftOut("scaleFactor") && !c.is("recomputeScaleFactor")) {
    const factors = c.ints("scaleFactor", dims);
    const scales = c.graph.constant([1, 1, ...factors], "float32");
    return c.node("Resize", [c.in("input"), null, scales], attributes);
  }
  const sizes = c.exporter.shape(c.out.sizes());
  return c.node("Resize", [c.in("input"), null, null, sizes], attributes);
};

const kGridModes: Readonly<Record<string, string>> = { bilinear: "linear", bicubic: "cubic" };

const gridSample: Writer = (c) => {
  const mode = c.arg("mode") as string;
  if (c.value("input").rank !== 4 && c.opset < 20) noForm("volumes need opset 20");
  return c.node("GridSample", [c.in("input"), c.in("grid", c.out.dtype)], {
    mode: c.opset >= 20 ? (kGridModes[mode] ?? mode) : mode,
    padding_mode: c.arg("paddingMode") as string,
    align_corners: c.is("alignCorners") ? 1 : 0,
  });
};

const pixelShuffle: Writer = (c) =>
  c.value("input").rank === 4
    ? c.node("DepthToSpace", [c.in("input")], { blocksize: c.number("upscaleFactor"), mode: "CRD" })
    : noForm("");

/** Convolutions, pooling and interpolation. */
export const kConv: Writers = {
  conv1d: conv(1),
  conv2d: conv(2),
  convTranspose1d: convTranspose(1),
  convTranspose2d: convTranspose(2),
  maxPool1d: maxPool(1),
  maxPool2d: maxPool(2),
  avgPool1d: avgPool(1),
  avgPool2d: avgPool(2),
  adaptiveAvgPool2d: adaptivePool(2, "Average"),
  adaptiveMaxPool2d: adaptivePool(2, "Max"),
  interpolate,
};

/** Functions that are composed of ops here and single nodes in ONNX; cases that the node does not cover are written as their parts. */
export const kConvComposites: Writers = {
  conv3d: conv(3),
  convTranspose3d: convTranspose(3),
  maxPool3d: maxPool(3),
  avgPool3d: avgPool(3),
  adaptiveAvgPool1d: adaptivePool(1, "Average"),
  adaptiveAvgPool3d: adaptivePool(3, "Average"),
  adaptiveMaxPool1d: adaptivePool(1, "Max"),
  adaptiveMaxPool3d: adaptivePool(3, "Max"),
  gridSample,
  pixelShuffle,
};
