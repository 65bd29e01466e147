// Batched matrix products, with any strides.
//
// A workgroup computes a tile of the result (tile_classes.ts, tile_shader.ts). If the result has only a few rows or columns, several
// lanes share each sum instead (skinny_product.ts where four numbers can be read at a time).

import type { MatrixLayout, MatrixProduct, ProductSizes } from "../../../generated/stream";
import type { DType } from "../../dtype";
import { elementType, kWgslTypes } from "../../element_types";
import { withScalars } from "../../scalars";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import {
  type Index,
  indexOf,
  mergeDimensions,
  packedStrides,
  product,
  sizeUniforms,
} from "../strides";
import { inParts, kReadParts } from "./complex";
import { isForLanes, multiplyInLanes, productText, sumText } from "./lanes_product";
import { isSkinny, multiplySkinny } from "./skinny_product";
import {
  halvesOf,
  type OperandName,
  operandType,
  readOperand,
  type TiledProduct,
} from "./tiled_product";
import { dispatchTiles } from "./tiles";
import { vec4sOf } from "./vec4s";

/** A batch of matrices in memory; strides count elements. */
export interface Matrices extends MatrixLayout {
  readonly view: View;
}

/** C = alpha A B + beta C + bias (of columns, unless it is one of rows) for every matrix of a batch (src/kernels/matmul.h). */
export interface Product extends ProductSizes {
  readonly a: Matrices;
  readonly b: Matrices;
  readonly c: Matrices;
  readonly alpha?: number | bigint;
  readonly beta?: number | bigint;
  readonly bias?: View | undefined;
  readonly isBiasOfRows?: boolean;
}

const kDTypes: readonly DType[] = ["float32", "int32", "int64", "uint8", "complex64"];

export const matrixProduct: Kernel<MatrixProduct> = {
  supported: { views: [kDTypes, kDTypes, kDTypes, ["float32"]] },

  play({ sizes, a, aLayout, b, bLayout, c, cLayout, alpha, beta, bias }, commands): void {
    multiply(commands, {
      ...sizes,
      a: { view: a, ...aLayout },
      b: { view: b, ...bLayout },
      c: { view: c, ...cLayout },
      alpha,
      beta,
      bias,
    });
  },
};

export function multiply(commands: Commands, given: Product): void {
  const isComplex = given.c.view.dtype === "complex64";
  const call = withVectors(mergeBatch(isComplex ? inParts(given) : given));
  const read = (name: OperandName, { view }: Matrices): Access =>
    isComplex ? { name, view, mode: "read" } : readOperand(commands, name, view);
  const readA = read("a", call.a);
  const readB = read("b", call.b);
  const { batch, m, n, k, a, b, c, alpha = 1, beta = 0, bias, isBiasOfRows = false } = call;
  const space = mergeDimensions(
    batch,
    [a, b, c].map(({ batchStrides }) => batchStrides),
  );
  const count = product(space.sizes);
  if (m === 0 || n === 0 || count === 0) return;
  const indices = ["a", "b", "c"].map((name, i) => indexOf(space, i, name, "batch"));
  const type = elementType(c.view.dtype) as TiledProduct["type"];
  const finish: Finish = {
    type,
    isScaled: alpha !== 1,
    adds: beta !== 0,
    bias: bias && (isBiasOfRows ? "row" : "column"),
  };
  const memory: Access[] = [
    readA,
    readB,
    { name: "c", view: c.view, mode: "write" },
    ...(bias === undefined ? [] : [{ name: "bias", view: bias, mode: "read" } as const]),
  ];
  const layouts = isComplex ? given : call;
  const tiled: TiledProduct = {
    m,
    n,
    k,
    count,
    type,
    halves: halvesOf(readA, readB),
    isARowMajor: layouts.a.columnStride === 1,
    isBRowMajor: layouts.b.columnStride === 1,
    stores:
      c.view.dtype === "float32" && isPacked(call) ? [{ name: "c", count: count * m * n }] : [],
    key: `${space.sizes.length} ${indices.map(({ key }) => key)} ${finish.isScaled} ${finish.adds}${finish.bias ?? ""}${isComplex ? "c" : ""}`,
    memory,
    uniforms: withScalars(
      type,
      {
        ...sizeUniforms(space, "batch"),
        ...Object.assign({}, ...indices.map(({ uniforms }) => uniforms)),
        m,
        n,
        k,
        a_row: a.rowStride,
        a_column: a.columnStride,
        b_row: b.rowStride,
        b_column: b.columnStride,
        c_row: c.rowStride,
      },
      { alpha: wrapped(alpha, type), beta: wrapped(beta, type) },
    ),
    functions: () =>
      firstText(indices) + (isComplex ? kReadParts : readText(tiled)) + finishText(finish),
    vec4s: isComplex
      ? undefined
      : vec4sOf(call, memory, (hasResults) => {
          const finished = hasResults ? finishVec4sText(finish) : finishText(finish);
          return firstText(indices) + finished;
        }),
  };
  if (k > 0 && isSkinny(commands, tiled) && multiplySkinny(commands, tiled)) return;
  if (isForLanes(tiled)) multiplyInLanes(commands, tiled);
  else dispatchTiles(commands, { ...tiled, key: `matrix_product ${tiled.key}` });
}

function isPacked({ batch, m, n, c }: Product): boolean {
  const strides = [...c.batchStrides, c.rowStride, c.columnStride];
  const packed = packedStrides([...batch, m, n]);
  return [...batch, m, n].every((size, d) => size === 1 || strides[d] === packed[d]);
}

// Factors of bytes wrap around, as their products do.
function wrapped(factor: number | bigint, type: TiledProduct["type"]): number | bigint {
  return type === "u32" ? Number(factor) & 255 : factor;
}

/** The distance to a second row or column is free if there is only one: at a multiple of four, a contiguous vector can be read in vec4s. */
function withVectors(call: Product): Product {
  const { m, n, k, a, b } = call;
  const apart = 4 * Math.max(1, k);
  return {
    ...call,
    a: m === 1 && a.columnStride === 1 ? { ...a, rowStride: apart } : a,
    b: n === 1 && b.rowStride === 1 ? { ...b, columnStride: apart } : b,
  };
}

/** Merges a batch of contiguous matrices A with the same B into one matrix with more rows. */
function mergeBatch(call: Product): Product {
  const { batch, m, a, b, c } = call;
  const [count] = batch;
  if (batch.length !== 1 || count === undefined || b.batchStrides[0] !== 0) return call;
  const isTall = ({ batchStrides: [step], rowStride }: Matrices) => step === m * rowStride;
  if (!isTall(a) || !isTall(c)) return call;
  const alone = (matrices: Matrices): Matrices => ({ ...matrices, batchStrides: [] });
  return { ...call, batch: [], m: count * m, a: alone(a), b: alone(b), c: alone(c) };
}

interface Finish {
  readonly type: TiledProduct["type"];
  readonly isScaled: boolean;
  readonly adds: boolean;
  /** What has a bias. */
  readonly bias: "row" | "column" | undefined;
}

function firstText(indices: readonly Index[]): string {
  return indices.map((index, i) => `${index.text(`first_${"abc"[i]}`)}\n`).join("");
}

function readText(call: TiledProduct): string {
  return `fn a_line(first: u32, row: u32) -> u32 { return first + row * u.a_row; }
fn a_step(first: u32, column: u32) -> u32 { return column * u.a_column; }
fn a_value(line: u32, step: u32) -> ${operandType(call, "a")} { return load_a(line + step); }
fn b_line(first: u32, column: u32) -> u32 { return first + column * u.b_column; }
fn b_step(first: u32, row: u32) -> u32 { return row * u.b_row; }
fn b_value(line: u32, step: u32) -> ${operandType(call, "b")} { return load_b(line + step); }
`;
}

function finishText({ type, isScaled, adds, bias }: Finish): string {
  const before = productText(type, "u.beta", "load_c(at)");
  return `fn finish(first: u32, row: u32, column: u32, sum: ${kWgslTypes[type]}) {
  let at = first + row * u.c_row + column;
  var value = ${isScaled ? productText(type, "u.alpha", "sum") : "sum"};
  ${adds ? `value = ${sumText(type, "value", before)};` : ""}
  ${bias ? `value += load_bias(${bias});` : ""}
  store_c(at, value);
}`;
}

function finishVec4sText({ isScaled, adds, bias }: Finish): string {
  const biases =
    bias === "row"
      ? ["load_bias(row)"]
      : [0, 1, 2, 3].map((part) => `load_bias(column + ${part}u)`);
  return `fn finish_vec4s(first: u32, row: u32, column: u32, sums: vec4<f32>) {
  let at = (first + row * u.c_row + column) / 4u;
  var value = ${isScaled ? "u.alpha * sums" : "sums"};
  ${adds ? "value += u.beta * load_c(at);" : ""}
  ${bias ? `value += vec4(${biases.join(", ")});` : ""}
  store_c(at, value);
}`;
}
