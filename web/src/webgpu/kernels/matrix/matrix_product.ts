// Batched matrix products, with any strides.
//
// A workgroup computes a square tile of the result. In each step, it loads 16 columns of A and 16 rows of B into
// workgroup memory, in the order of their memory layout, and every invocation computes a square of results from them. If
// the result has only a few rows or columns, several lanes share each sum instead.

import type { MatrixLayout, MatrixProduct, ProductSizes } from "../../../generated/stream";
import type { DType } from "../../dtype";
import { withScalars } from "../../scalars";
import { type Access, elementType, kWgslTypes } from "../../shader";
import type { View } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import { chooseLanes, combineLanes, forEachLane, lanesKey, laneWorkgroups } from "../lanes";
import {
  type Index,
  indexOf,
  mergeDimensions,
  packedStrides,
  product,
  sizeUniforms,
} from "../strides";
import { inParts, kReadParts } from "./complex";
import { foursOf } from "./fours";
import { elementsText, type TiledProduct } from "./tiled_product";
import { dispatchTiles } from "./tiles";

/** A batch of matrices in memory; strides count elements. */
export interface Matrices extends MatrixLayout {
  readonly view: View;
}

/** C = alpha A B + beta C + bias for every matrix of a batch (src/kernels/matmul.h). */
export interface Product extends ProductSizes {
  readonly a: Matrices;
  readonly b: Matrices;
  readonly c: Matrices;
  readonly alpha?: number | bigint;
  readonly beta?: number | bigint;
  readonly bias?: View | undefined;
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
  const call = mergeBatch(isComplex ? inParts(given) : given);
  const { batch, m, n, k, a, b, c, alpha = 1, beta = 0, bias } = call;
  const space = mergeDimensions(
    batch,
    [a, b, c].map(({ batchStrides }) => batchStrides),
  );
  const count = product(space.sizes);
  if (m === 0 || n === 0 || count === 0) return;
  const indices = ["a", "b", "c"].map((name, i) => indexOf(space, i, name, "batch"));
  const type = elementType(c.view.dtype) as TiledProduct["type"];
  const finish = { type, isScaled: alpha !== 1, adds: beta !== 0, bias: !!bias };
  const memory: Access[] = [
    { name: "a", view: a.view, mode: "read" },
    { name: "b", view: b.view, mode: "read" },
    { name: "c", view: c.view, mode: "write" },
    ...(bias === undefined ? [] : [{ name: "bias", view: bias, mode: "read" } as const]),
  ];
  const tiled: TiledProduct = {
    m,
    n,
    k,
    count,
    type,
    isARowMajor: given.a.columnStride === 1,
    isBRowMajor: given.b.columnStride === 1,
    stores:
      c.view.dtype === "float32" && isPacked(call) ? [{ name: "c", count: count * m * n }] : [],
    key: `${space.sizes.length} ${indices.map(({ key }) => key)} ${finish.isScaled} ${finish.adds}${bias ? "b" : ""}${isComplex ? "c" : ""}`,
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
      firstText(indices) + (isComplex ? kReadParts : readText(type)) + finishText(finish),
    fours: isComplex
      ? undefined
      : foursOf(call, memory, (hasResults) => {
          const finished = hasResults ? finishFoursText(finish) : finishText(finish);
          return firstText(indices) + finished;
        }),
  };
  if (Math.min(m, n) < kFewest || k === 0 || type === "i64") multiplyInLanes(commands, tiled);
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

/** With fewer rows or columns, tiles would be mostly empty. */
const kFewest = 4;

interface Finish {
  readonly type: TiledProduct["type"];
  readonly isScaled: boolean;
  readonly adds: boolean;
  readonly bias: boolean;
}

function firstText(indices: readonly Index[]): string {
  return indices.map((index, i) => `${index.text(`first_${"abc"[i]}`)}\n`).join("");
}

function readText(elements: TiledProduct["type"]): string {
  const type = kWgslTypes[elements];
  return `fn a_line(first: u32, row: u32) -> u32 { return first + row * u.a_row; }
fn a_step(first: u32, column: u32) -> u32 { return column * u.a_column; }
fn a_value(line: u32, step: u32) -> ${type} { return load_a(line + step); }
fn b_line(first: u32, column: u32) -> u32 { return first + column * u.b_column; }
fn b_step(first: u32, row: u32) -> u32 { return row * u.b_row; }
fn b_value(line: u32, step: u32) -> ${type} { return load_b(line + step); }
`;
}

function sumText(type: TiledProduct["type"], a: string, b: string): string {
  return type === "i64" ? `add_i64(${a}, ${b})` : `${a} + ${b}`;
}

function productText(type: TiledProduct["type"], a: string, b: string): string {
  return type === "i64" ? `mul_i64(${a}, ${b})` : `${a} * ${b}`;
}

function finishText({ type, isScaled, adds, bias }: Finish): string {
  const before = productText(type, "u.beta", "load_c(at)");
  return `fn finish(first: u32, row: u32, column: u32, sum: ${kWgslTypes[type]}) {
  let at = first + row * u.c_row + column;
  var value = ${isScaled ? productText(type, "u.alpha", "sum") : "sum"};
  ${adds ? `value = ${sumText(type, "value", before)};` : ""}
  ${bias ? "value += load_bias(column);" : ""}
  store_c(at, value);
}`;
}

function finishFoursText({ isScaled, adds, bias }: Finish): string {
  const biases = [0, 1, 2, 3].map((part) => `load_bias(column + ${part}u)`);
  return `fn finish_fours(first: u32, row: u32, column: u32, sums: vec4<f32>) {
  let at = (first + row * u.c_row + column) / 4u;
  var value = ${isScaled ? "u.alpha * sums" : "sums"};
  ${adds ? "value += u.beta * load_c(at);" : ""}
  ${bias ? `value += vec4(${biases.join(", ")});` : ""}
  store_c(at, value);
}`;
}

function multiplyInLanes(commands: Commands, call: TiledProduct): void {
  const { m, n, k, count, type, isARowMajor, isBRowMajor, key, memory, uniforms, functions } = call;
  const positions = count * m * n;
  // The layout of the larger operand decides.
  const isRowMajor = n <= m ? isARowMajor : !isBRowMajor;
  const isTall = n <= m;
  const lanes = chooseLanes(commands, positions, k, isRowMajor);
  const [row, column] = isTall ? ["rest / u.n", "rest % u.n"] : ["rest % u.m", "rest / u.m"];
  commands.dispatch({
    key: `vector_product ${lanesKey(lanes)} ${isTall} ${key}`,
    memory,
    uniforms: { ...uniforms, u32: { ...uniforms.u32, positions } },
    workgroups: laneWorkgroups(lanes, positions),
    stores: call.stores ?? [],
    body: () =>
      [
        functions(),
        elementsText(type),
        combineLanes("sum_of_lanes", lanes, {
          type: kWgslTypes[type],
          text: sumText(type, "a", "b"),
        }),
        forEachLane(
          lanes,
          `let batch = position / (u.m * u.n);
  let rest = position % (u.m * u.n);
  let row = ${row};
  let column = ${column};
  let from_a = first_a(batch);
  let from_b = first_b(batch);
  var sum = ${kWgslTypes[type]}();
  for (var k = lane; k < u.k; k += kLanes) {
    sum = ${sumText(type, "sum", productText(type, "a_at(from_a, row, k)", "b_at(from_b, k, column)"))};
  }
  sum = sum_of_lanes(thread, sum);
  if (lane == 0u && is_inside) {
    finish(first_c(batch), row, column, sum);
  }`,
        ),
      ].join("\n"),
  });
}
