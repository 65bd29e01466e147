// Tensor.toString(): the format that PyTorch prints, with its defaults of 4 digits, lines of 80 characters
// and at most 1000 elements printed in full.

import { kIsLeaf, kIsSparse } from "../generated/border.js";
import { native } from "../runtime/bridge/bridge.js";
import { defaultComplexDtype, getDefaultDtype } from "./default_dtype.js";
import { type DType, isComplex, isFloat } from "./dtype.js";
import { elementsOf, type Item, itemAt } from "./elements.js";
import { chooseFormat, type Format } from "./format_number.js";
import { type Geometry, geometryOf, handleOf } from "./info.js";
import type { Tensor } from "./tensor.js";

const kLineWidth = 80;
const kThreshold = 1000;
const kEdgeItems = 3;
const kPrefix = "tensor(";

// The dtypes that are not printed.
function isDefaultDtype(dtype: DType): boolean {
  const floats = [getDefaultDtype(), defaultComplexDtype()];
  return dtype === "int64" || dtype === "bool" || floats.includes(dtype);
}

/** Returns the text of a tensor. */
export function formatTensor(tensor: Tensor): string {
  const geometry = geometryOf(tensor);
  if ((geometry.flags & kIsSparse) !== 0) return formatSparse(tensor, geometry);
  const body = geometry.numel === 0 ? "[]" : bodyOf(tensor);
  return withSuffixes(kPrefix + body, suffixesOf(tensor, geometry));
}

// The parts of a sparse tensor, each as a tensor of its own.
function formatSparse(tensor: Tensor, geometry: Geometry): string {
  const { layout, nnz } = tensor;
  const isCsr = layout === "sparse_csr";
  const parts = {
    ...(isCsr
      ? { crow_indices: tensor.crowIndices(), col_indices: tensor.colIndices() }
      : { indices: tensor.indices() }),
    values: tensor.values(false),
  };
  const texts = Object.entries(parts).map(([name, part]) => {
    const indent = " ".repeat(kPrefix.length + name.length + 1);
    const text = formatTensor(part).replaceAll("\n", `\n${indent}`);
    part.dispose();
    return `${name}=${text}`;
  });
  const body = kPrefix + texts.join(`,\n${" ".repeat(kPrefix.length)}`);
  const own = [
    `size=(${geometry.shape.join(", ")}${geometry.shape.length === 1 ? "," : ""})`,
    `nnz=${nnz}`,
    `layout=${layout}`,
  ];
  const end = own.join(", ");
  return withSuffixes(
    `${body},\n${" ".repeat(kPrefix.length)}${end}`,
    suffixesOf(tensor, geometry),
  );
}

function bodyOf(tensor: Tensor): string {
  if (tensor.device === "cpu") return new Printer(tensor, geometryOf(tensor)).print();
  const host = tensor.to("cpu");
  try {
    return bodyOf(host);
  } finally {
    host.dispose();
  }
}

function suffixesOf(tensor: Tensor, { dtype, numel, shape, flags }: Geometry): string[] {
  const suffixes: string[] = [];
  const { device, requiresGrad } = tensor;
  if (device !== "cpu") suffixes.push(`device='${device}'`);
  if (numel === 0 && shape.length !== 1) suffixes.push(`size=(${shape.join(", ")})`);
  const isDefault = numel === 0 ? dtype === getDefaultDtype() : isDefaultDtype(dtype);
  if (!isDefault) suffixes.push(`dtype=${dtype}`);
  const gradFn = (flags & kIsLeaf) !== 0 ? "" : native.gradFnName(handleOf(tensor));
  if (gradFn !== "") suffixes.push(`grad_fn=<${gradFn}>`);
  else if (requiresGrad) suffixes.push("requires_grad=True");
  return suffixes;
}

function withSuffixes(text: string, suffixes: readonly string[]): string {
  let result = text;
  let lineLength = text.length - text.lastIndexOf("\n") + 1;
  for (const suffix of suffixes) {
    if (lineLength + suffix.length + 2 > kLineWidth) {
      result += `,\n${" ".repeat(kPrefix.length)}${suffix}`;
      lineLength = kPrefix.length + suffix.length;
    } else {
      result += `, ${suffix}`;
      lineLength += suffix.length + 2;
    }
  }
  return `${result})`;
}

class Printer {
  private readonly summarize: boolean;
  private readonly read: (offset: number) => Item;
  private readonly formats: readonly Format[];

  constructor(
    tensor: Tensor,
    private readonly geometry: Geometry,
  ) {
    const { dtype, numel, shape, strides } = geometry;
    this.summarize = numel > kThreshold;
    const last = shape.reduce((sum, size, dim) => sum + (size - 1) * (strides[dim] ?? 0), 0);
    const elements = elementsOf(tensor, dtype, last + 1);
    this.read = (offset) => itemAt(elements, offset, dtype);
    const shown = this.offsets(0, 0).map(this.read);
    if (isComplex(dtype)) {
      const parts = shown.map(partsOf);
      this.formats = [0, 1].map((part) =>
        chooseFormat(
          parts.map((pair) => pair[part] ?? 0),
          true,
        ),
      );
    } else {
      this.formats = [chooseFormat(shown, isFloat(dtype))];
    }
  }

  print(): string {
    return this.level(0, 0, kPrefix.length);
  }

  // The indices along a dimension that are printed; null represents the ellipsis.
  private positions(dim: number): (number | null)[] {
    const size = this.geometry.shape[dim] ?? 0;
    if (!this.summarize || size <= 2 * kEdgeItems) return places(0, size);
    return [...places(0, kEdgeItems), null, ...places(size - kEdgeItems, size)];
  }

  // The storage offsets of the printed elements in the dimensions from `dim` on.
  private offsets(dim: number, offset: number): number[] {
    if (dim === this.geometry.shape.length) return [offset];
    const stride = this.geometry.strides[dim] ?? 0;
    return this.positions(dim).flatMap((i) =>
      i === null ? [] : this.offsets(dim + 1, offset + i * stride),
    );
  }

  private level(dim: number, offset: number, indent: number): string {
    const ndim = this.geometry.shape.length;
    if (dim === ndim) return this.element(offset);
    const stride = this.geometry.strides[dim] ?? 0;
    const isRow = dim === ndim - 1;
    const parts = this.positions(dim).map((i) => {
      if (i === null) return isRow ? " ..." : "...";
      return this.level(dim + 1, offset + i * stride, indent + 1);
    });
    const newLine = (count: number) => `,${"\n".repeat(count)}${" ".repeat(indent + 1)}`;
    if (!isRow) return `[${parts.join(newLine(ndim - dim - 1))}]`;
    const perLine = Math.max(1, Math.floor((kLineWidth - indent) / this.elementWidth()));
    const lines: string[] = [];
    for (let i = 0; i < parts.length; i += perLine)
      lines.push(parts.slice(i, i + perLine).join(", "));
    return `[${lines.join(newLine(1))}]`;
  }

  // Includes the comma and the space after the element, and the j of a complex number.
  private elementWidth(): number {
    const widths = this.formats.reduce((sum, format) => sum + format.width, 0);
    return widths + this.formats.length + 1;
  }

  private element(offset: number): string {
    const item = this.read(offset);
    const [first, second] = this.formats;
    if (first === undefined) return "";
    if (second === undefined) return first.print(item);
    const [re, im] = partsOf(item);
    const imaginary = `${second.print(im)}j`.trimStart();
    return first.print(re) + (imaginary.startsWith("-") ? "" : "+") + imaginary;
  }
}

function places(begin: number, end: number): number[] {
  return Array.from({ length: end - begin }, (_, i) => begin + i);
}

function partsOf(item: Item): [number, number] {
  return typeof item === "object" ? [item.re, item.im] : [Number(item), 0];
}
