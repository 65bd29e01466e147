// Reductions over any dimensions of a strided operand.

import { Fold, type Reduce, type Reduction } from "../../../generated/stream";
import { type DType, itemSize, kRealDTypes } from "../../dtype";
import { kWgslTypes } from "../../element_types";
import type { Operand, View } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane } from "../lanes";
import {
  type Index,
  type IterationSpace,
  indexOf,
  mergeDimensions,
  packedStrides,
  product,
  sizeUniforms,
} from "../strides";
import { inWindows, isBindable } from "../windows";

interface FoldShader {
  readonly neutral: Texts;
  /** The value that an element `x` contributes, if it is not x itself. */
  readonly map?: Texts;
  readonly combine: "sum" | "prod" | "max" | "min";
}

/** WGSL for each type that is folded. */
interface Texts {
  readonly f32: string;
  readonly i64?: string;
}

type FoldType = keyof Texts;

const kZero = { f32: "0f", i64: "vec2(0u, 0u)" };
const kLeast = { f32: "-infinity_f32()", i64: "vec2(0u, 0x80000000u)" };
const kMost = { f32: "infinity_f32()", i64: "vec2(0xffffffffu, 0x7fffffffu)" };

const kFolds: Readonly<Record<Fold, FoldShader>> = {
  [Fold.Sum]: { combine: "sum", neutral: kZero },
  [Fold.Prod]: { combine: "prod", neutral: { f32: "1f", i64: "vec2(1u, 0u)" } },
  [Fold.Max]: { combine: "max", neutral: kLeast },
  [Fold.Min]: { combine: "min", neutral: kMost },
  [Fold.CountNonzero]: {
    combine: "sum",
    neutral: kZero,
    map: {
      f32: "select(0f, 1f, differ_f32(x, 0f))",
      i64: "vec2(select(0u, 1u, any(x != vec2(0u, 0u))), 0u)",
    },
  },
  [Fold.SumAbs]: { combine: "sum", neutral: kZero, map: { f32: "abs_f32(x)" } },
  [Fold.SumSquares]: { combine: "sum", neutral: kZero, map: { f32: "x * x" } },
  [Fold.SumCenteredSquares]: {
    combine: "sum",
    neutral: kZero,
    map: { f32: "(x - shift) * (x - shift)" },
  },
  [Fold.SumExp]: { combine: "sum", neutral: kZero, map: { f32: "exp_f32(x - shift)" } },
  [Fold.MaxAbs]: { combine: "max", neutral: kZero, map: { f32: "abs_f32(x)" } },
  [Fold.MinAbs]: { combine: "min", neutral: kMost, map: { f32: "abs_f32(x)" } },
};

function combineText(kind: FoldShader["combine"], type: FoldType): string {
  if (kind === "sum") return type === "f32" ? "a + b" : "add_i64(a, b)";
  if (kind === "prod") return type === "f32" ? "a * b" : "mul_i64(a, b)";
  return kind === "max" ? `maximum_${type}(a, b)` : `minimum_${type}(a, b)`;
}

/** The number of elements that a position of the first pass folds, if a result has many. */
const kChunk = 4096;
/** With this many results, the reduction of each one is not split into chunks. */
const kEnoughPositions = 1024;

export const reduce: Kernel<Reduce> = {
  supported: {
    views: [kRealDTypes, ["float32", "int64"], ["float32", "int64"]],
  },

  play({ reduction, shape, dims, x, xStrides, shifts, y }, commands): void {
    const { kept, reduced } = splitShape(shape, dims, xStrides);
    reduceAll({ ...reduction, commands, x, shifts, y, kept, reduced });
  },
};

/** Folds all elements of a packed view to one int64. */
export function reducePacked(
  commands: Commands,
  fold: Fold,
  count: number,
  { x, y }: { x: View; y: View },
): void {
  const kept: IterationSpace = { sizes: [], strides: [[]] };
  const reduced: IterationSpace = { sizes: [count], strides: [[1]] };
  reduceAll({
    commands,
    fold,
    compute: "int64",
    divisor: 1,
    root: false,
    x,
    shifts: undefined,
    y,
    kept,
    reduced,
  });
}

function reduceAll(whole: Call): void {
  if (product(whole.kept.sizes) === 0) return;
  for (const call of dividedResults(whole)) {
    const positions = product(call.kept.sizes);
    const size = product(call.reduced.sizes);
    const isShort = size <= kChunk || positions >= kEnoughPositions;
    if (isShort && isBindable(call.commands, call.x)) foldAll(call, positions, size);
    else foldInChunks(call, positions);
  }
}

// Divides a reduction into such of fewer results where it accesses more memory than can be bound.
function dividedResults(call: Call): Call[] {
  const { commands, x, y, shifts, kept, reduced } = call;
  const strides = [...stridesOf(kept), ...stridesOf(reduced)];
  const results = [...packedStrides(kept.sizes), ...reduced.sizes.map(() => 0)];
  const operands = [
    { view: x, strides },
    { view: y, strides: results },
    ...(shifts ? [{ view: shifts, strides: results }] : []),
  ];
  // Where the elements of a result are farther apart than results, fewer results take no less memory.
  const [step = 0, along = 0] = [stridesOf(kept)[0], stridesOf(reduced)[0]];
  const outermost = Math.abs(step) > Math.abs(along) ? [0] : [];
  const parts = inWindows(commands, [...kept.sizes, ...reduced.sizes], operands, outermost);
  return parts.map(({ shape, operands: own }) => {
    const [ownX, ownY, ownShifts] = own.map(({ view }) => view) as [View, View, View?];
    const sizes = shape.slice(0, kept.sizes.length);
    return { ...call, x: ownX, y: ownY, shifts: ownShifts, kept: { ...kept, sizes } };
  });
}

// The same, with fewer elements for each result.
function dividedElements(call: Call): Call[] {
  const { commands, x, kept, reduced } = call;
  if (reduced.sizes.length !== 1 || isBindable(commands, x)) return [call];
  const strides = [...stridesOf(kept), ...stridesOf(reduced)];
  const operands = [{ view: x, strides }];
  const last = kept.sizes.length;
  return inWindows(commands, [...kept.sizes, ...reduced.sizes], operands, [last]).map(
    ({ shape, operands: [own] }) => ({
      ...call,
      x: (own as Operand).view,
      reduced: { ...reduced, sizes: [shape[last] as number] },
    }),
  );
}

function stridesOf({ strides }: IterationSpace): readonly number[] {
  return strides[0] as readonly number[];
}

function foldInChunks(call: Call, positions: number): void {
  const parts = dividedElements(call).map((part) => {
    const size = product(part.reduced.sizes);
    return { part, size, chunks: Math.ceil(size / kChunk) };
  });
  const chunks = parts.reduce((sum, part) => sum + part.chunks, 0);
  // The partial results have the shape [chunks, results].
  const dtype: DType = call.compute === "float32" ? "float32" : "int64";
  const partial = call.commands.scratch(itemSize(dtype) * positions * chunks, dtype);
  let first = 0;
  for (const { part, size, chunks: own } of parts) {
    const offset = itemSize(dtype) * positions * first;
    foldChunks(part, { ...partial, offset }, positions, size, own);
    first += own;
  }
  foldPartial(call, partial, positions, chunks);
}

interface Call extends Reduction {
  readonly commands: Commands;
  readonly x: View;
  readonly shifts: View | undefined;
  readonly y: View;
  readonly kept: IterationSpace;
  readonly reduced: IterationSpace;
}

/** Splits a shape into the dimensions that remain and those that are reduced. */
export function splitShape(
  shape: readonly number[],
  dims: readonly number[],
  strides: readonly number[],
): { kept: IterationSpace; reduced: IterationSpace } {
  const pick = (isWanted: (d: number) => boolean) => {
    const chosen = shape.map((_, d) => d).filter(isWanted);
    return mergeDimensions(
      chosen.map((d) => shape[d] as number),
      [chosen.map((d) => strides[d] as number)],
    );
  };
  return { kept: pick((d) => !dims.includes(d)), reduced: pick((d) => dims.includes(d)) };
}

/** Whether the elements of a row are closer to each other than neighboring rows are. */
export function isRowMajor({
  kept,
  reduced,
}: {
  kept: IterationSpace;
  reduced: IterationSpace;
}): boolean {
  const step = (space: IterationSpace) =>
    Math.abs(space.strides[0]?.at(-1) ?? Number.POSITIVE_INFINITY);
  return step(reduced) <= step(kept);
}

function foldAll(call: Call, positions: number, size: number): void {
  const { commands, x, y, shifts, kept, reduced } = call;
  const from = indexOf(kept, 0, "kept", "kept");
  const along = indexOf(reduced, 0, "along", "along");
  dispatchFold(call, {
    commands,
    positions,
    size,
    from: x,
    to: y,
    shifts,
    isRowMajor: isRowMajor(call),
    index: { from, along, uniforms: indexUniforms(call, from, along) },
    isMapped: true,
    isFinal: true,
  });
}

function indexUniforms({ kept, reduced }: Call, from: Index, along: Index): Record<string, number> {
  return {
    ...sizeUniforms(kept, "kept"),
    ...sizeUniforms(reduced, "along"),
    ...from.uniforms,
    ...along.uniforms,
  };
}

function foldChunks(
  call: Call,
  partial: View,
  positions: number,
  size: number,
  chunks: number,
): void {
  const { commands, x, shifts, kept, reduced } = call;
  const from = indexOf(kept, 0, "kept", "kept");
  const along = indexOf(reduced, 0, "along", "along");
  dispatchFold(call, {
    commands,
    positions: positions * chunks,
    size,
    chunks,
    from: x,
    to: partial,
    shifts,
    isRowMajor: isRowMajor(call),
    index: { from, along, uniforms: indexUniforms(call, from, along) },
    isMapped: true,
    isFinal: false,
  });
}

function foldPartial(call: Call, partial: View, positions: number, chunks: number): void {
  const kept: IterationSpace = { sizes: [positions], strides: [[1]] };
  const reduced: IterationSpace = { sizes: [chunks], strides: [[positions]] };
  const from = indexOf(kept, 0, "kept", "kept");
  const along = indexOf(reduced, 0, "along", "along");
  const parts = { ...call, kept, reduced };
  dispatchFold(parts, {
    commands: call.commands,
    positions,
    size: chunks,
    from: partial,
    to: call.y,
    shifts: undefined,
    isRowMajor: false,
    index: { from, along, uniforms: indexUniforms(parts, from, along) },
    isMapped: false,
    isFinal: true,
  });
}

interface Pass {
  readonly commands: Commands;
  readonly positions: number;
  /** The number of elements per result, in all chunks together. */
  readonly size: number;
  readonly chunks?: number;
  readonly from: View;
  readonly to: View;
  readonly shifts: View | undefined;
  readonly isRowMajor: boolean;
  readonly index: { from: Index; along: Index; uniforms: Record<string, number> };
  /** Whether the input consists of elements, not of partial results. */
  readonly isMapped: boolean;
  /** Whether the output is final, so the divisor and the root are applied. */
  readonly isFinal: boolean;
}

function dispatchFold({ fold, compute, divisor, root, kept, reduced }: Call, pass: Pass): void {
  const { positions, size, chunks, from, to, shifts, index, isMapped, isFinal } = pass;
  const type: FoldType = compute === "float32" ? "f32" : "i64";
  const wgsl = kWgslTypes[type];
  const found = kFolds[fold];
  const neutral = found.neutral[type];
  const map = found.map === undefined || !isMapped ? "x" : found.map[type];
  if (neutral === undefined || map === undefined)
    throw new Error(`there is no fold ${Fold[fold]} of ${compute}`);
  const chosen = chooseLanes(pass.commands, positions, Math.min(size, kChunk), pass.isRowMajor);
  const finished = finishText(type, isFinal, divisor, root);
  const hasShift = shifts !== undefined && isMapped;
  const results = chunks === undefined ? positions : positions / chunks;
  const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
    key: `reduce ${fold} ${type} ${kept.sizes.length} ${reduced.sizes.length} ${index.from.key} ${index.along.key} ${chunks === undefined ? "" : "c"}${isMapped ? "m" : ""}${finished}`,
    memory: [
      { name: "x", view: from, mode: "read", as: type },
      ...(hasShift ? [{ name: "shifts", view: shifts, mode: "read" } as const] : []),
      { name: "y", view: to, mode: "write", as: type },
    ],
    uniforms: {
      u32: { ...index.uniforms, positions, size, results, chunk: Math.ceil(size / (chunks ?? 1)) },
      f32: { divisor },
    },
    body: () =>
      [
        index.from.text("index_kept"),
        index.along.text("index_along"),
        combineLanes("combined", lanes, { type: wgsl, text: combineText(found.combine, type) }),
        `fn combine(a: ${wgsl}, b: ${wgsl}) -> ${wgsl} { return ${combineText(found.combine, type)}; }`,
        forEachLane(
          lanes,
          `let result = position % u.results;
  let chunk = position / u.results;
  let last = min((chunk + 1u) * u.chunk, u.size);
  let first = index_kept(result);
  ${hasShift ? "let shift = load_shifts(result);" : ""}
  var total = ${neutral};
  for (var k = chunk * u.chunk + lane; k < last; k += kLanes) {
    let x = load_x(first + index_along(k));
    total = combine(total, ${map});
  }
  total = combined(thread, total);
  if (lane == 0u && is_inside) {
    store_y(position, ${finished});
  }`,
        ),
      ].join("\n"),
  }));
  pass.commands.dispatch(dispatch);
}

function finishText(type: FoldType, isFinal: boolean, divisor: number, root: boolean): string {
  if (!isFinal || type === "i64") return "total";
  const quotient = divisor === 1 ? "total" : "total / u.divisor";
  return root ? `sqrt_f32(${quotient})` : quotient;
}
