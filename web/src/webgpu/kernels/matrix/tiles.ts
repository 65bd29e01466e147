// The frame of products of matrices: workgroups that make square tiles of the result.

import type { Access, Numbers } from "../../shader";
import { forEach, invocations, workgroups } from "../invocations";
import type { Commands } from "../kernel";

/** A batch of products of m x k by k x n matrices. */
export interface TiledProduct {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly numbers: Numbers;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
  readonly type: "f32" | "i32" | "u32";
  /** Neighbours in memory are neighbours in a row. */
  readonly isARowMajor: boolean;
  readonly isBRowMajor: boolean;
  /** Elements are where strides say, which costs nothing to find out again. */
  readonly isPlain: boolean;
  /**
   * first_a(batch), first_b and first_c, which say where matrices begin, and with that a_at(first, row, column) and
   * b_at(first, row, column), whose value beyond the last row or column does not matter, and finish(first, row, column,
   * sum).
   */
  functions(): string;
}

/** The most workgroups in a direction; there are enough of them in two for all tiles. */
const kMostBatches = 65535;

/** With so many workgroups a device is busy. */
const kEnough = 48;

export function dispatchTiles(commands: Commands, call: TiledProduct): void {
  const makesSquares = commands.isSoftware && call.isPlain;
  const plan = makesSquares ? planSquares(call) : planTiles(call);
  const splits = makesSquares ? 1 : chooseSplits(plan.groups * call.count, call.k);
  if (splits > 1) dispatchSplit(commands, call, plan, splits);
  else dispatchWhole(commands, call, plan);
}

/** A way to share a product among workgroups. */
interface Plan {
  readonly key: string;
  /** Workgroups for every matrix of the batch, and parts of a row of results. */
  readonly groups: number;
  readonly columns: number;
  text(): string;
}

function planTiles(call: TiledProduct): Plan {
  const width = chooseWidth(call);
  const tile = 16 * width;
  const columns = Math.ceil(call.n / tile);
  return {
    key: `tiles ${width} ${call.isARowMajor} ${call.isBRowMajor}`,
    groups: columns * Math.ceil(call.m / tile),
    columns,
    text: () => tilesText(call, width),
  };
}

function planSquares(call: TiledProduct): Plan {
  const { m, n } = call;
  const rows = m >= 64 ? 8 : 4;
  const vectors = n >= 64 ? 2 : 1;
  const columns = Math.ceil(n / (4 * vectors));
  return {
    key: `squares ${rows} ${vectors}`,
    groups: Math.ceil((columns * Math.ceil(m / rows)) / kSquareThreads),
    columns,
    text: () => squaresText(call, rows, vectors),
  };
}

function dispatchWhole(commands: Commands, call: TiledProduct, plan: Plan): void {
  const { key, memory, numbers, m, n, k, count, type } = call;
  const { groups, columns, text } = plan;
  const [x, y] = workgroups(groups);
  for (let first = 0; first < count; first += kMostBatches) {
    commands.dispatch({
      key: `${key} ${plan.key}`,
      memory,
      numbers: { ...numbers, u32: { ...numbers.u32, m, n, k, columns, first_batch: first } },
      workgroups: [x, y, Math.min(kMostBatches, count - first)],
      body: () => `${call.functions()}
fn batch_of(z: u32) -> u32 { return u.first_batch + z; }
fn first_step(z: u32) -> u32 { return 0u; }
fn last_step(z: u32) -> u32 { return u.k; }
fn give(z: u32, row: u32, column: u32, sum: ${type}) {
  finish(first_c(batch_of(z)), row, column, sum);
}
${text()}`,
    });
  }
}

// Long sums of few results: workgroups share them, and a second dispatch adds up what each has.
function dispatchSplit(
  commands: Commands,
  call: TiledProduct,
  { key: planKey, groups, columns, text }: Plan,
  splits: number,
): void {
  const { key, memory, numbers, m, n, k, count, type } = call;
  const results = count * m * n;
  const partial: Access = {
    name: "partial",
    view: commands.scratch(4 * splits * results, type === "f32" ? "float32" : "int32"),
    mode: "write",
    ...(type === "u32" ? { as: "word" } : {}),
  };
  const chunk = Math.ceil(k / splits / 16) * 16;
  const own = { m, n, k, columns, chunk, batches: count, splits, count: results };
  const all = { ...numbers, u32: { ...numbers.u32, ...own } };
  const [x, y] = workgroups(groups);
  commands.dispatch({
    key: `${key} split ${planKey}`,
    memory: [...memory, partial],
    numbers: all,
    workgroups: [x, y, count * splits],
    body: () => `${call.functions()}
fn batch_of(z: u32) -> u32 { return z % u.batches; }
fn first_step(z: u32) -> u32 { return z / u.batches * u.chunk; }
fn last_step(z: u32) -> u32 { return min(first_step(z) + u.chunk, u.k); }
fn give(z: u32, row: u32, column: u32, sum: ${type}) {
  store_partial((z * u.m + row) * u.n + column, sum);
}
${text()}`,
  });
  commands.dispatch({
    key: `${key} splits`,
    memory: [...memory, partial],
    numbers: all,
    workgroups: invocations(results),
    body: () =>
      call.functions() +
      forEach(`var sum = ${type}(0);
  for (var split = 0u; split < u.splits; split++) {
    sum += load_partial(split * u.count + i);
  }
  finish(first_c(i / (u.m * u.n)), i / u.n % u.m, i % u.n, sum);`),
  });
}

/** Steps of a split are worth its addition. */
const kLeastSteps = 256;

function chooseSplits(groups: number, k: number): number {
  if (groups >= kEnough) return 1;
  return Math.max(1, Math.min(Math.floor(k / kLeastSteps), Math.ceil((2 * kEnough) / groups)));
}

/** Results along a side of an invocation's square: large where there is enough for many workgroups. */
function chooseWidth({ m, n, count }: TiledProduct): 1 | 2 | 4 {
  for (const width of [4, 2] as const) {
    const tile = 16 * width;
    const tiles = Math.ceil(m / tile) * Math.ceil(n / tile) * count;
    if (tiles >= kEnough && m > tile / 2 && n > tile / 2) return width;
  }
  return 1;
}

// The main function. What it sums over, and where sums go, is said by batch_of(z), first_step(z), last_step(z) and
// give(z, row, column, sum).
function tilesText({ type, isARowMajor, isBRowMajor }: TiledProduct, width: 1 | 2 | 4): string {
  const vector = width === 1 ? type : `vec${width}<${type}>`;
  const places = Array.from({ length: width }, (_, i) => i);
  const part = (name: string, i: number) => (width === 1 ? name : `${name}[${i}]`);
  const all = (text: (i: number) => string) => `${vector}(${places.map(text).join(", ")})`;
  const zero = `${vector}(0)`;
  // Neighbouring invocations read neighbouring elements.
  const alongK = "let k = thread % 16u;\n    let place = thread / 16u;";
  const acrossK = "let k = thread / 16u;\n    let place = thread % 16u;";
  return `var<workgroup> a_tile: array<${vector}, 256>;
var<workgroup> b_tile: array<${vector}, 256>;
fn bring_a(thread: u32, first: u32, row: u32, step: u32) {
    ${isARowMajor ? alongK : acrossK}
    let r = row + place * ${width}u;
    let column = step + k;
    let values = ${all((i) => `a_at(first, r + ${i}u, column)`)};
    a_tile[k * 16u + place] = select(${zero}, values, column < u.k);
}
fn bring_b(thread: u32, first: u32, step: u32, column: u32) {
    ${isBRowMajor ? acrossK : alongK}
    let c = column + place * ${width}u;
    let row = step + k;
    let values = ${all((i) => `b_at(first, row, c + ${i}u)`)};
    b_tile[k * 16u + place] = select(${zero}, values, row < u.k);
}
${kMainHead(256)}
  let tile = group.x + group.y * groups.x;
  let row = tile / u.columns * ${16 * width}u;
  let column = tile % u.columns * ${16 * width}u;
  let x = thread % 16u;
  let y = thread / 16u;
  ${places.map((i) => `var sum_${i} = ${zero};`).join("\n  ")}
  for (var step = first_step(group.z); step < last_step(group.z); step += 16u) {
    bring_a(thread, from_a, row, step);
    bring_b(thread, from_b, step, column);
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      let a = a_tile[k * 16u + y];
      let b = b_tile[k * 16u + x];
      ${places.map((i) => `sum_${i} += ${part("a", i)} * b;`).join("\n      ")}
    }
    workgroupBarrier();
  }
  let first_row = row + y * ${width}u;
  let first_column = column + x * ${width}u;
  ${givesText(width, width, (i, j) => part(`sum_${i}`, j))}
}
`;
}

const kMainHead = (threads: number) => `@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let batch = batch_of(group.z);
  let from_a = first_a(batch);
  let from_b = first_b(batch);`;

// Results of an invocation, as far as there are so many.
function givesText(rows: number, columns: number, sum: (i: number, j: number) => string): string {
  const lines: string[] = [];
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      lines.push(`if (first_row + ${i}u < u.m && first_column + ${j}u < u.n) {
    give(group.z, first_row + ${i}u, first_column + ${j}u, ${sum(i, j)});
  }`);
  return lines.join("\n  ");
}

// The same where memory of workgroups is memory like any other, and waiting for one another is all that it would
// cost: every invocation makes a square of results by itself.
function squaresText({ type }: TiledProduct, rows: number, vectors: number): string {
  const vector = `vec4<${type}>`;
  const eachRow = Array.from({ length: rows }, (_, i) => i);
  const eachVector = Array.from({ length: vectors }, (_, j) => j);
  const b = (j: number) =>
    [0, 1, 2, 3].map((part) => `b_at(from_b, k, first_column + ${4 * j + part}u)`).join(", ");
  return `${kMainHead(kSquareThreads)}
  let square = (group.x + group.y * groups.x) * ${kSquareThreads}u + thread;
  let first_row = square / u.columns * ${rows}u;
  let first_column = square % u.columns * ${4 * vectors}u;
  if (first_row >= u.m) {
    return;
  }
  ${eachRow.flatMap((i) => eachVector.map((j) => `var sum_${i}_${j} = ${vector}(0);`)).join("\n  ")}
  for (var k = first_step(group.z); k < last_step(group.z); k++) {
    ${eachVector.map((j) => `let b_${j} = ${vector}(${b(j)});`).join("\n    ")}
    ${eachRow.map((i) => `let a_${i} = a_at(from_a, first_row + ${i}u, k);`).join("\n    ")}
    ${eachRow.flatMap((i) => eachVector.map((j) => `sum_${i}_${j} += a_${i} * b_${j};`)).join("\n    ")}
  }
  ${givesText(rows, 4 * vectors, (i, j) => `sum_${i}_${Math.floor(j / 4)}[${j % 4}]`)}
}
`;
}

/** Invocations of a workgroup that make squares. */
const kSquareThreads = 16;
