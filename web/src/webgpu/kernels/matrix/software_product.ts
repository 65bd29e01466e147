// Matrix products for devices that compute on the CPU. There, workgroup memory is ordinary memory, so sharing tiles would
// only add the cost of barriers. Every invocation computes a rectangle of results independently.
//
// On such a device a read costs as much as a dozen multiplications, and a read of four neighbors twice as much.
// Rectangles are therefore large, and are read as vec4s if the layout of the matrices permits it.

import type { Commands } from "../kernel";
import { range } from "../text";
import {
  dispatchBatches,
  elementsText,
  mainHead,
  type Plan,
  type TiledProduct,
  type Vec4s,
} from "./tiled_product";

/** Invocations of a workgroup. */
const kThreads = 16;

/** Runs the product on a device that computes on the CPU. */
export function dispatchSoftwareProduct(commands: Commands, call: TiledProduct): void {
  const { vec4s } = call;
  if (vec4s === undefined) dispatchBatches(commands, call, planElements(call), elementsText(call));
  else dispatchBatches(commands, { ...call, ...vec4s }, planVec4s(call, vec4s), "");
}

// Reads single floats, with any layout.
function planElements(call: TiledProduct): Plan {
  const size = { rows: call.m >= 64 ? 8 : 4, columns: call.n >= 64 ? 8 : 4 };
  return plan(call, "squares", size, () => rectangleText(call, size));
}

// Reads four floats at a time.
function planVec4s(call: TiledProduct, { hasResults }: Vec4s): Plan {
  const size = chooseSize(call);
  const steps = isLong(call) ? 8 : 4;
  const name = `vec4s ${call.isARowMajor} ${call.isBRowMajor} ${hasResults} ${steps}`;
  return plan(call, name, size, () => vec4sText(call, size, steps, hasResults));
}

/** With this many multiplications, a shader with more unrolled steps is worth its compile time. */
const kLong = 2 ** 25;

// Unrolling more steps helps if the rows of A and the columns of B are contiguous.
function isLong({ m, n, k, count, isARowMajor, isBRowMajor }: TiledProduct): boolean {
  return isARowMajor && isBRowMajor && k % 8 === 0 && m * n * k * count >= kLong;
}

interface Size {
  readonly rows: number;
  readonly columns: number;
}

const kSizes: readonly Size[] = [
  { rows: 16, columns: 8 },
  { rows: 8, columns: 8 },
  { rows: 8, columns: 4 },
];
const kSmallest: Size = { rows: 4, columns: 4 };

/** With this many rectangles, all cores have work. */
const kEnough = 128;

function chooseSize({ m, n, count }: TiledProduct): Size {
  const isGood = ({ rows, columns }: Size) =>
    rows <= m && columns <= n && (m * n * count) / (rows * columns) >= kEnough;
  return kSizes.find(isGood) ?? kSmallest;
}

function plan(
  { m, n }: TiledProduct,
  name: string,
  { rows, columns }: Size,
  text: () => string,
): Plan {
  const across = Math.ceil(n / columns);
  return {
    key: `${name} ${rows} ${columns}`,
    groups: Math.ceil((across * Math.ceil(m / rows)) / kThreads),
    columns: across,
    text,
  };
}

// The main function around `work`, which accumulates the sums, four columns in each, row by row. They are an array because a loop
// over the results compiles in a third of the time that statements for each of them would take.
function frameText({ type }: TiledProduct, { rows, columns }: Size, work: string): string {
  return `${mainHead(kThreads)}
  let square = (group.x + group.y * groups.x) * ${kThreads}u + thread;
  let first_row = square / u.columns * ${rows}u;
  let first_column = square % u.columns * ${columns}u;
  if (first_row >= u.m) {
    return;
  }
  var sums: array<vec4<${type}>, ${(rows * columns) / 4}>;
  ${work}
}
`;
}

// Adds the products of several steps to the sums of some rows. Setting a variable costs as much as many multiplications, so
// each sum is set once.
function sumsText(
  rows: readonly number[],
  columns: number,
  steps: number,
  a: (step: number, i: number) => string,
  b: (step: number, j: number) => string,
): string {
  const products = (i: number, j: number) =>
    range(steps).map((step) => `${a(step, i)} * ${b(step, j)}`);
  return rows
    .flatMap((i) =>
      range(columns / 4).map(
        (j) => `sums[${(i * columns) / 4 + j}] += ${products(i, j).join(" + ")};`,
      ),
    )
    .join("\n    ");
}

function resultsText({ rows, columns }: Size): string {
  return `let rows = min(${rows}u, u.m - first_row);
  let columns = min(${columns}u, u.n - first_column);
  for (var i = 0u; i < rows; i++) {
    for (var j = 0u; j < columns; j++) {
      finish(first_c(batch), first_row + i, first_column + j, sums[i * ${columns / 4}u + j / 4u][j % 4u]);
    }
  }`;
}

function rectangleText(call: TiledProduct, size: Size): string {
  const { rows, columns } = size;
  const four = (j: number) =>
    range(4).map((part) => `b_at(from_b, k, first_column + ${4 * j + part}u)`);
  return frameText(
    call,
    size,
    `for (var k = 0u; k < u.k; k++) {
    ${range(columns / 4)
      .map((j) => `let b_${j} = vec4(${four(j).join(", ")});`)
      .join("\n    ")}
    ${range(rows)
      .map((i) => `let a_${i} = a_at(from_a, first_row + ${i}u, k);`)
      .join("\n    ")}
    ${sumsText(
      range(rows),
      columns,
      1,
      (_, i) => `a_${i}`,
      (_, j) => `b_${j}`,
    )}
  }
  ${resultsText(size)}`,
  );
}

// Unrolls several steps of the sums. Strides and the offsets of rows count vec4s. Values of A are used as soon as they are read.
function vec4sText(call: TiledProduct, size: Size, steps: number, hasResults: boolean): string {
  const a = vec4sOf("a", size.rows, steps, call.isARowMajor, "first_row");
  const b = vec4sOf("b", size.columns, steps, !call.isBRowMajor, "first_column");
  const partText = (lines: readonly number[], i: number) =>
    `${a.reads[i]}\n    ${sumsText(lines, size.columns, steps, a.one, b.four)}`;
  return frameText(
    call,
    size,
    `${a.before}
  ${b.before}
  for (var k = 0u; k < u.k / 4u; k += ${steps / 4}u) {
    ${b.reads.join("\n    ")}
    ${a.parts.map(partText).join("\n    ")}
  }
  ${hasResults ? resultsVec4sText(size) : resultsText(size)}`,
  );
}

interface Vec4sText {
  readonly before: string;
  /** Groups of lines that are read together; `reads` has the text that reads each group. */
  readonly parts: readonly (readonly number[])[];
  readonly reads: readonly string[];
  /** The value at a step of a line (a row of A, a column of B), and the values of four lines. */
  one(step: number, line: number): string;
  four(step: number, j: number): string;
}

// The texts that read a matrix. `isAlong` tells whether steps (true) or lines (false) are contiguous.
function vec4sOf(
  name: "a" | "b",
  lines: number,
  steps: number,
  isAlong: boolean,
  first: string,
): Vec4sText {
  const [line, step] = name === "a" ? ["a_row", "a_column"] : ["b_column", "b_row"];
  if (isAlong) {
    const elementText = (at: number, i: number) => `${name}_${i}_${Math.floor(at / 4)}[${at % 4}]`;
    const readText = (i: number, four: number) =>
      `let ${name}_${i}_${four} = load_${name}(at_${name}_${i} + k + ${four}u);`;
    return {
      before: range(lines)
        .map((i) => `let at_${name}_${i} = (from_${name} + (${first} + ${i}u) * u.${line}) / 4u;`)
        .join("\n  "),
      parts: range(lines).map((i) => [i]),
      reads: range(lines).map((i) =>
        range(steps / 4)
          .map((four) => readText(i, four))
          .join("\n    "),
      ),
      one: elementText,
      four: (at, j) => `vec4(${range(4).map((part) => elementText(at, 4 * j + part))})`,
    };
  }
  const readText = (at: number, j: number) =>
    `let ${name}_${at}_${j} = load_${name}(at_${name} + (4u * k + ${at}u) * step_${name} + ${j}u);`;
  return {
    before: `let at_${name} = (from_${name} + ${first}) / 4u;
  let step_${name} = u.${step} / 4u;`,
    parts: range(lines / 4).map((j) => range(4).map((part) => 4 * j + part)),
    reads: range(lines / 4).map((j) =>
      range(steps)
        .map((at) => readText(at, j))
        .join("\n    "),
    ),
    one: (at, i) => `${name}_${at}_${Math.floor(i / 4)}[${i % 4}]`,
    four: (at, j) => `${name}_${at}_${j}`,
  };
}

function resultsVec4sText({ rows, columns }: Size): string {
  return `let rows = min(${rows}u, u.m - first_row);
  let vec4s = min(${columns / 4}u, (u.n - first_column) / 4u);
  for (var i = 0u; i < rows; i++) {
    for (var j = 0u; j < vec4s; j++) {
      finish_vec4s(first_c(batch), first_row + i, first_column + 4u * j, sums[i * ${columns / 4}u + j]);
    }
  }`;
}
