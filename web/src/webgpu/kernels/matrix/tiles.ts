// Matrix products on a GPU: every workgroup computes a tile of the result.

import type { Access } from "../../shader";
import { forEach, invocations, workgroups } from "../invocations";
import type { Commands } from "../kernel";
import { dispatchSoftwareProduct } from "./software_product";
import { linesOf, type Tile, type TileClass, type TileShape } from "./tile_classes";
import { hasFourColumns, tileKey, tilesText } from "./tile_shader";
import { dispatchBatches, type Plan, type TiledProduct } from "./tiled_product";

export function dispatchTiles(commands: Commands, call: TiledProduct): void {
  if (commands.isSoftware) {
    dispatchSoftwareProduct(commands, call);
    return;
  }
  const { busy } = commands.tiles;
  const shape = chooseShape(commands.tiles, call);
  const groups = groupsOf(shape, call);
  const splits = groups >= busy ? 1 : splitsOf(call.k, Math.ceil((2 * busy) / groups));
  if (splits > 1) dispatchSplit(commands, call, shape, splits);
  else dispatchWhole(commands, call, shape);
}

/** The minimum number of steps per split, below which the additional addition does not pay off. */
const kMinSplitSteps = 256;

/** Splits with which a large tile is better than more small ones: their partial sums are little memory beside the operands. */
const kFewSplits = 4;

/** The second dispatch takes as long as about this many steps. */
const kStepsOfDispatch = 512;

function splitsOf(k: number, most: number): number {
  const splits = Math.max(1, Math.min(Math.floor(k / kMinSplitSteps), most));
  return k - k / splits >= kStepsOfDispatch ? splits : 1;
}

function groupsOf(shape: TileShape, { m, n, count }: TiledProduct): number {
  const { a, b } = linesOf(shape);
  return Math.ceil(m / a) * Math.ceil(n / b) * count;
}

/** Chooses the largest tile that leaves enough work for many workgroups, and is mostly inside the result. */
function chooseShape({ shapes, busy, keepsHalves }: TileClass, call: TiledProduct): Tile {
  const isGood = (shape: TileShape) => {
    const { a, b } = linesOf(shape);
    const most = groupsOf(shape, call) * splitsOf(call.k, kFewSplits);
    return most >= busy && call.m > a / 2 && call.n > b / 2;
  };
  return { ...(shapes.find(isGood) ?? (shapes.at(-1) as TileShape)), keepsHalves };
}

/** The product as its tiles read it. */
const inVec4s = (call: TiledProduct): TiledProduct => ({ ...call, ...call.vec4s });

function planTiles(call: TiledProduct, shape: Tile, writesVec4s: boolean): Plan {
  const columns = Math.ceil(call.n / linesOf(shape).b);
  return {
    key: tileKey(call, shape),
    groups: columns * Math.ceil(call.m / linesOf(shape).a),
    columns,
    text: () => tilesText(call, shape, writesVec4s),
  };
}

function dispatchWhole(commands: Commands, call: TiledProduct, shape: Tile): void {
  const writesVec4s = call.vec4s?.hasResults === true && hasFourColumns(call);
  // Results that are not next to each other are written one by one.
  const read =
    call.vec4s?.hasResults && !writesVec4s
      ? { ...call, vec4s: call.vec4s.withSingleResults }
      : call;
  const finish = writesVec4s
    ? `fn give_vec4s(z: u32, row: u32, column: u32, sums: vec4<f32>) {
  finish_vec4s(first_c(batch_of(z)), row, column, sums);
}`
    : `fn give(z: u32, row: u32, column: u32, sum: ${call.type}) {
  finish(first_c(batch_of(z)), row, column, sum);
}`;
  dispatchBatches(
    commands,
    inVec4s(read),
    planTiles(read, shape, writesVec4s),
    `fn first_step(z: u32) -> u32 { return 0u; }
fn last_step(z: u32) -> u32 { return u.k; }
${finish}`,
  );
}

// Splits long sums of few results among workgroups; a second dispatch adds up the partial sums.
function dispatchSplit(commands: Commands, call: TiledProduct, shape: Tile, splits: number): void {
  const { key, memory, uniforms, m, n, k, count, type } = call;
  const read = inVec4s(call);
  const { key: planKey, groups, columns, text } = planTiles(call, shape, false);
  const results = count * m * n;
  const partial: Access = {
    name: "partial",
    view: commands.scratch(4 * splits * results, type === "f32" ? "float32" : "int32"),
    mode: "write",
    ...(type === "u32" ? { as: "word" } : {}),
  };
  const chunk = Math.ceil(k / splits / 16) * 16;
  const own = { m, n, k, columns, chunk, batches: count, splits, count: results };
  const all = { ...uniforms, u32: { ...uniforms.u32, ...own } };
  const [x, y] = workgroups(groups);
  commands.dispatch({
    key: `${key} split ${planKey}`,
    memory: [...read.memory, partial],
    uniforms: all,
    workgroups: [x, y, count * splits],
    body: () => `${read.functions()}
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
    uniforms: all,
    workgroups: invocations(results),
    stores: call.stores ?? [],
    body: () =>
      call.functions() +
      forEach(`var sum = ${type}(0);
  for (var split = 0u; split < u.splits; split++) {
    sum += load_partial(split * u.count + i);
  }
  finish(first_c(i / (u.m * u.n)), i / u.n % u.m, i % u.n, sum);`),
  });
}
