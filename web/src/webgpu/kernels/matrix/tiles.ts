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
  /**
   * first_a(batch), first_b and first_c, which say where matrices begin, and with that a_inside(first, row, column)
   * and b_inside(first, row, column), which are 0 beyond u.m, u.n and u.k, and finish(first, row, column, sum).
   */
  functions(): string;
}

/** The most workgroups in a direction; there are enough of them in two for all tiles. */
const kMostBatches = 65535;

/** With so many workgroups a device is busy. */
const kEnough = 48;

export function dispatchTiles(commands: Commands, call: TiledProduct): void {
  const { key, memory, numbers, m, n, k, count } = call;
  const width = chooseWidth(call);
  const tile = 16 * width;
  const columns = Math.ceil(n / tile);
  const tiles = columns * Math.ceil(m / tile);
  const [x, y] = workgroups(tiles);
  const splits = chooseSplits(tiles * count, k);
  if (splits > 1) {
    dispatchSplit(commands, call, { width, columns, tiles, splits });
    return;
  }
  for (let first = 0; first < count; first += kMostBatches) {
    commands.dispatch({
      key: `${key} ${textKey(call, width)}`,
      memory,
      numbers: { ...numbers, u32: { ...numbers.u32, m, n, k, columns, first_batch: first } },
      workgroups: [x, y, Math.min(kMostBatches, count - first)],
      body: () => `${call.functions()}
fn batch_of(z: u32) -> u32 { return u.first_batch + z; }
fn first_step(z: u32) -> u32 { return 0u; }
fn last_step(z: u32) -> u32 { return u.k; }
fn give(z: u32, row: u32, column: u32, sum: ${call.type}) {
  finish(first_c(batch_of(z)), row, column, sum);
}
${tilesText(call, width)}`,
    });
  }
}

interface Split {
  readonly width: 1 | 2 | 4;
  readonly columns: number;
  readonly tiles: number;
  readonly splits: number;
}

// Long sums of few results: workgroups share them, and a second dispatch adds up what each has.
function dispatchSplit(commands: Commands, call: TiledProduct, split: Split): void {
  const { key, memory, numbers, m, n, k, count, type } = call;
  const { width, columns, tiles, splits } = split;
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
  const [x, y] = workgroups(tiles);
  commands.dispatch({
    key: `${key} split ${textKey(call, width)}`,
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
${tilesText(call, width)}`,
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

function textKey({ isARowMajor, isBRowMajor }: TiledProduct, width: number): string {
  return `${width} ${isARowMajor} ${isBRowMajor}`;
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

// The main function: every invocation makes `width` x `width` results. What it sums over, and where sums go, is
// said by batch_of(z), first_step(z), last_step(z) and give(z, row, column, sum).
function tilesText({ type, isARowMajor, isBRowMajor }: TiledProduct, width: 1 | 2 | 4): string {
  const vector = width === 1 ? type : `vec${width}<${type}>`;
  const places = Array.from({ length: width }, (_, i) => i);
  const part = (name: string, i: number) => (width === 1 ? name : `${name}[${i}]`);
  const all = (text: (i: number) => string) => `${vector}(${places.map(text).join(", ")})`;
  // Neighbouring invocations read neighbouring elements.
  const alongK = "let k = thread % 16u;\n    let place = thread / 16u;";
  const acrossK = "let k = thread / 16u;\n    let place = thread % 16u;";
  return `var<workgroup> a_tile: array<${vector}, 256>;
var<workgroup> b_tile: array<${vector}, 256>;
fn bring_a(thread: u32, first: u32, row: u32, column: u32) {
    ${isARowMajor ? alongK : acrossK}
    let r = row + place * ${width}u;
    a_tile[k * 16u + place] = ${all((i) => `a_inside(first, r + ${i}u, column + k)`)};
}
fn bring_b(thread: u32, first: u32, row: u32, column: u32) {
    ${isBRowMajor ? acrossK : alongK}
    let c = column + place * ${width}u;
    b_tile[k * 16u + place] = ${all((i) => `b_inside(first, row + k, c + ${i}u)`)};
}
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let batch = batch_of(group.z);
  let from_a = first_a(batch);
  let from_b = first_b(batch);
  let tile = group.x + group.y * groups.x;
  let row = tile / u.columns * ${16 * width}u;
  let column = tile % u.columns * ${16 * width}u;
  let x = thread % 16u;
  let y = thread / 16u;
  ${places.map((i) => `var sum_${i} = ${vector}(0);`).join("\n  ")}
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
  ${places
    .flatMap((i) =>
      places.map(
        (j) => `if (row + y * ${width}u + ${i}u < u.m && column + x * ${width}u + ${j}u < u.n) {
    give(group.z, row + y * ${width}u + ${i}u, column + x * ${width}u + ${j}u, ${part(`sum_${i}`, j)});
  }`,
      ),
    )
    .join("\n  ")}
}
`;
}
