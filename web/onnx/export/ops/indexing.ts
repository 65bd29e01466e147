// Reading and writing elements by their positions.

import { type Call, lifted, type Writer, type Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { type Size, Value, Varying } from "../values.js";
import { commonType } from "./comparisons.js";

const indexSelect: Writer = (c) => {
  const index = c.value("index");
  const places = index.rank === 0 ? c.unsqueeze(c.in("index"), [0]) : c.in("index");
  return c.node("Gather", [c.in("input"), places], { axis: c.dim("dim") });
};

const gather: Writer = (c) =>
  c.node("GatherElements", [c.in("input"), c.in("index")], { axis: c.dim("dim") });

const takeAlongDim: Writer = (c) => {
  const [input, indices] = [c.value("input"), c.value("indices")];
  if (c.isLeftOut("dim")) {
    const flat = (name: Name) => c.node("Reshape", [name, c.list([-1])]);
    return c.node("GatherElements", [flat(c.in("input")), flat(c.in("indices"))], { axis: 0 });
  }
  const axis = c.dim("dim");
  const along = (value: Value) => {
    const sizes = c.out.sizes().map((size, i) => (i === axis ? value.size(i) : size));
    const isSame = String(sizes) === String(value.sizes());
    return isSame ? c.as(value) : c.node("Expand", [c.as(value), c.exporter.shape(sizes)]);
  };
  return c.node("GatherElements", [along(input), along(indices)], { axis });
};

const take: Writer = (c) => {
  const flat = c.node("Reshape", [c.in("input"), c.list([-1])]);
  return c.node("Gather", [flat, c.in("index")], { axis: 0 });
};

const embedding: Writer = (c) => c.node("Gather", [c.in("weight"), c.in("input")], { axis: 0 });

// x[..., indices, ...]: the indexed dimensions come first, then GatherND picks from them.
const index: Writer = (c) => {
  const input = c.value("input");
  const indices = c.arg("indices") as Value[];
  const dims = c.ints("dims", indices.length);
  const [first] = indices as [Value];
  if (indices.some(({ dtype }) => dtype === "bool" || dtype === "uint8"))
    return gatherMasked(c, indices, dims);
  if (indices.length === 1) {
    return c.node("Gather", [c.in("input"), c.as(first)], { axis: dims[0] });
  }
  const rest = input.shape.map((_, i) => i).filter((axis) => !dims.includes(axis));
  const turned = c.transpose(c.in("input"), [...dims, ...rest]);
  const picked = c.node("GatherND", [turned, placesOf(c, indices)]);
  // If the indexed dimensions are adjacent, the result replaces them.
  const isTogether = dims.every((dim, i) => i === 0 || dim === (dims[i - 1] as number) + 1);
  const before = isTogether ? (dims[0] as number) : 0;
  const rank = Math.max(...indices.map((index) => index.rank));
  const order = [
    ...Array.from({ length: before }, (_, i) => rank + i),
    ...Array.from({ length: rank }, (_, i) => i),
    ...Array.from({ length: rest.length - before }, (_, i) => rank + before + i),
  ];
  return c.transpose(picked, order);
};

// The positions that several index tensors describe together, in a new last dimension.
function placesOf(c: Call, indices: readonly Value[]): Name {
  const rank = Math.max(...indices.map((index) => index.rank));
  const shape = commonShape(indices, rank);
  const columns = indices.map((index) => {
    const isWhole = String(index.sizes()) === String(shape);
    const name = c.as(index, "int64");
    const full = isWhole ? name : c.node("Expand", [name, c.exporter.shape(shape)]);
    return c.unsqueeze(full, [rank]);
  });
  return columns.length === 1 ? (columns[0] as Name) : c.node("Concat", columns, { axis: rank });
}

function commonShape(values: readonly Value[], rank: number): Size[] {
  return Array.from({ length: rank }, (_, i) => {
    const sizes = values
      .filter((value) => value.rank >= rank - i)
      .map((value) => value.size(i - rank));
    return sizes.find((size) => size instanceof Varying || size !== 1) ?? 1;
  });
}

// One mask over the first dimensions.
function gatherMasked(c: Call, indices: readonly Value[], dims: readonly number[]): Name {
  const [mask] = indices as [Value];
  if (indices.length !== 1 || dims[0] !== 0) noForm("a mask together with other indices");
  return c.node("GatherND", [c.in("input"), trueIn(c, c.as(mask, "bool"))]);
}

// The positions where a mask is true: [count, dimensions].
function trueIn(c: Call, mask: Name): Name {
  return c.node("Transpose", [c.node("NonZero", [mask])], { perm: [1, 0] });
}

const maskedSelect: Writer = (c) => {
  const [input, mask] = [c.value("input"), c.value("mask")];
  const rank = Math.max(input.rank, mask.rank);
  const shape = commonShape([input, mask], rank);
  const whole = (value: Value, name: Name) =>
    String(value.sizes()) === String(shape)
      ? name
      : c.node("Expand", [name, c.exporter.shape(shape)]);
  const places = trueIn(c, whole(mask, c.in("mask", "bool")));
  return c.node("GatherND", [whole(input, c.in("input")), places]);
};

const nonzero: Writer = (c) => {
  if (c.value("input").rank === 0) noForm("positions in a single number");
  return trueIn(c, c.in("input"));
};

const oneHot: Writer = (c) => {
  const count = c.out.size(-1);
  const depth = c.exporter.size(count);
  const values = c.graph.constant([0, 1], "int64");
  return c.node("OneHot", [c.in("input"), depth, values], { axis: -1 });
};

const kReductions: Readonly<Record<string, string>> = {
  none: "none",
  add: "add",
  sum: "add",
  multiply: "mul",
  prod: "mul",
  amax: "max",
  amin: "min",
};

function reductionOf(c: Call, name: string): string {
  const reduction = kReductions[name] ?? noForm(`writing the ${name} of elements`);
  if (c.opset < 18 && (reduction === "max" || reduction === "min")) {
    noForm(`writing the ${name} of elements needs opset 18`);
  }
  return reduction;
}

const scatter: Writer = (c) => {
  const index = c.value("index");
  const src = c.operand("src", c.out.dtype);
  const isWhole = !isTensor(c, "src");
  const updates = isWhole
    ? c.node("Expand", [src, c.exporter.shape(index.sizes())])
    : crop(c, src, "src");
  return c.node("ScatterElements", [c.in("input"), c.in("index"), updates], {
    axis: c.dim("dim"),
    reduction: reductionOf(c, c.arg("reduce") as string),
  });
};

function isTensor(c: Call, name: string): boolean {
  return typeof c.arg(name) === "object" && !(c.arg(name) instanceof Varying);
}

// Crops the source to the shape of the index.
function crop(c: Call, name: Name, source: string): Name {
  const [sizes, own] = [c.value("index").sizes(), c.value(source).sizes()];
  return sizes.reduce<Name>(
    (result, size, dim) =>
      String(size) === String(own[dim]) ? result : c.slice(result, dim, 0, size),
    name,
  );
}

const scatterAdd: Writer = (c) =>
  c.node("ScatterElements", [c.in("input"), c.in("index"), crop(c, c.in("src"), "src")], {
    axis: c.dim("dim"),
    reduction: "add",
  });

const scatterReduce: Writer = (c) => {
  if (!c.is("includeSelf")) noForm("includeSelf: false");
  return c.node("ScatterElements", [c.in("input"), c.in("index"), crop(c, c.in("src"), "src")], {
    axis: c.dim("dim"),
    reduction: reductionOf(c, c.arg("reduce") as string),
  });
};

// Writes whole slices by repeating the index over the other dimensions.
function slices(reduction: string, updatesOf: (c: Call, sizes: readonly Size[]) => Name): Writer {
  return (c) => {
    const input = c.value("input");
    const axis = c.dim("dim");
    const index = c.value("index");
    const sizes = input
      .sizes()
      .map((size, i) => (i === axis ? (index.rank === 0 ? 1 : index.size(0)) : size));
    const others = sizes.map((_, i) => i).filter((dim) => dim !== axis);
    const vector =
      index.rank === 0 ? c.unsqueeze(c.in("index", "int64"), [0]) : c.in("index", "int64");
    const places = c.node("Expand", [c.unsqueeze(vector, others), c.exporter.shape(sizes)]);
    return c.node("ScatterElements", [c.in("input"), places, updatesOf(c, sizes)], {
      axis,
      reduction,
    });
  };
}

const indexAdd: Writer = slices("add", (c) => {
  const alpha = c.number("alpha");
  const source = c.in("source", c.out.dtype);
  return alpha === 1 ? source : c.node("Mul", [source, c.scalar(alpha)]);
});

const indexCopy: Writer = slices("none", (c) => c.in("source", c.out.dtype));

const indexFill: Writer = slices("none", (c, sizes) =>
  c.node("Expand", [c.operand("value", c.out.dtype), c.exporter.shape(sizes)]),
);

const indexReduce: Writer = (c) => {
  if (!c.is("includeSelf")) noForm("includeSelf: false");
  return slices(reductionOf(c, c.arg("reduce") as string), (own) =>
    own.in("source", own.out.dtype),
  )(c);
};

const indexPut: Writer = (c) => {
  const input = c.value("input");
  const indices = c.arg("indices") as Value[];
  const given = c.isLeftOut("dims") ? [] : c.ints("dims", indices.length);
  const dims = given.length > 0 ? given : indices.map((_, i) => i);
  const [first] = indices as [Value];
  const isMask = first.dtype === "bool" || first.dtype === "uint8";
  const isFirst = dims.every((dim, i) => dim === i);
  if ((isMask && indices.length > 1) || !isFirst)
    noForm("writing to dimensions that are not the first");
  if (isMask && !c.is("accumulate") && c.step.values.values !== undefined) {
    const single = c.arg("values");
    if (!isTensor(c, "values") || (single as Value).rank === 0) {
      const missing = Array.from({ length: input.rank - first.rank }, (_, i) => first.rank + i);
      const mask = c.unsqueeze(c.as(first, "bool"), missing);
      return c.node("Where", [mask, c.operand("values", c.out.dtype), c.in("input")]);
    }
  }
  if (isMask) noForm("writing a tensor where a mask is true");
  const places = placesOf(c, indices);
  const rank = Math.max(...indices.map((index) => index.rank));
  const sizes = [...commonShape(indices, rank), ...input.sizes().slice(indices.length)];
  const updates = c.node("Expand", [c.operand("values", c.out.dtype), c.exporter.shape(sizes)]);
  const reduction = c.is("accumulate") ? "add" : "none";
  return c.node("ScatterND", [c.in("input"), places, updates], { reduction });
};

const unique: Writer = (c) => {
  const input = c.value("input");
  const axis = c.isLeftOut("dim") ? undefined : c.dim("dim");
  const names = c.graph.outputs("Unique", [c.in("input")], { axis, sorted: 1 }, 4);
  const [values, , inverse, counts] = names as [Name, Name, Name, Name];
  const results = [values];
  // Without a dimension the tensor was flattened.
  if (c.is("returnInverse")) {
    results.push(axis === undefined ? c.exporter.reshape(inverse, [], input.sizes()) : inverse);
  }
  if (c.is("returnCounts")) results.push(counts);
  return results;
};

const isin: Writer = (c) => {
  const dtype = commonType(c, "elements", "testElements");
  const given = c.arg("elements");
  const rank = given instanceof Value ? given.rank : 0;
  const elements = c.unsqueeze(c.operand("elements", dtype), [rank]);
  const tests = c.node("Reshape", [c.operand("testElements", dtype), c.list([-1])]);
  const isSame = c.graph.cast(c.node("Equal", [elements, tests]), "int32");
  const isThere = c.graph.cast(c.reduce("ReduceMax", isSame, [rank], false), "bool");
  return c.is("invert") ? c.node("Not", [isThere]) : isThere;
};

/** Functions that are composed of ops here and one or a few nodes in ONNX. */
export const kIndexingComposites: Writers = { unique, isin };

/** Reading and writing elements by their positions. */
export const kIndexing: Writers = {
  indexSelect: lifted(indexSelect),
  gather: lifted(gather),
  takeAlongDim,
  take,
  embedding,
  index,
  maskedSelect,
  nonzero,
  oneHot,
  scatter: lifted(scatter),
  scatterAdd: lifted(scatterAdd),
  scatterReduce: lifted(scatterReduce),
  indexAdd,
  indexCopy,
  indexFill,
  indexReduce,
  indexPut,
  indexPut_: indexPut,
};
