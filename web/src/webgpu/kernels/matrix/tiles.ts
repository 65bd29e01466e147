// Matrix products on a GPU: every workgroup computes a square tile of the result.

import type { Access } from "../../shader";
import { forEach, invocations, workgroups } from "../invocations";
import type { Commands } from "../kernel";
import { dispatchSquares } from "./squares";
import {
  dispatchBatches,
  mainHead,
  type Plan,
  resultsText,
  type TiledProduct,
} from "./tiled_product";

/** With this many workgroups, a device is busy. */
const kEnough = 48;

export function dispatchTiles(commands: Commands, call: TiledProduct): void {
  if (commands.isSoftware) {
    dispatchSquares(commands, call);
    return;
  }
  const plan = planTiles(call);
  const splits = chooseSplits(plan.groups * call.count, call.k);
  if (splits > 1) dispatchSplit(commands, call, plan, splits);
  else dispatchBatches(commands, call, plan, wholeText(call));
}

const wholeText = ({ type }: TiledProduct) => `fn first_step(z: u32) -> u32 { return 0u; }
fn last_step(z: u32) -> u32 { return u.k; }
fn give(z: u32, row: u32, column: u32, sum: ${type}) {
  finish(first_c(batch_of(z)), row, column, sum);
}`;

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

// Splits long sums of few results among workgroups; a second dispatch adds up the partial sums.
function dispatchSplit(
  commands: Commands,
  call: TiledProduct,
  { key: planKey, groups, columns, text }: Plan,
  splits: number,
): void {
  const { key, memory, uniforms, m, n, k, count, type } = call;
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
    memory: [...memory, partial],
    uniforms: all,
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

/** The minimum number of steps per split, below which the additional addition does not pay off. */
const kMinSplitSteps = 256;

function chooseSplits(groups: number, k: number): number {
  if (groups >= kEnough) return 1;
  return Math.max(1, Math.min(Math.floor(k / kMinSplitSteps), Math.ceil((2 * kEnough) / groups)));
}

/** Chooses the side of an invocation's square of results: large if there is enough work for many workgroups. */
function chooseWidth({ m, n, count }: TiledProduct): 1 | 2 | 4 {
  for (const width of [4, 2] as const) {
    const tile = 16 * width;
    const tiles = Math.ceil(m / tile) * Math.ceil(n / tile) * count;
    if (tiles >= kEnough && m > tile / 2 && n > tile / 2) return width;
  }
  return 1;
}

// The main function. The range of its sums is defined by batch_of(z), first_step(z) and last_step(z), and
// give(z, row, column, sum) receives the results.
function tilesText({ type, isARowMajor, isBRowMajor }: TiledProduct, width: 1 | 2 | 4): string {
  const vector = width === 1 ? type : `vec${width}<${type}>`;
  const range = Array.from({ length: width }, (_, i) => i);
  const part = (name: string, i: number) => (width === 1 ? name : `${name}[${i}]`);
  const all = (text: (i: number) => string) => `${vector}(${range.map(text).join(", ")})`;
  const zero = `${vector}(0)`;
  // Neighbouring invocations read neighbouring elements.
  const alongK = ["thread % 16u", "thread / 16u"] as const;
  const acrossK = ["thread / 16u", "thread % 16u"] as const;
  const loaded = { a: isARowMajor ? alongK : acrossK, b: isBRowMajor ? acrossK : alongK };
  const linesText = (name: "a" | "b", first: string) =>
    range
      .map(
        (i) =>
          `let ${name}_line_${i} = ${name}_line(from_${name}, ${first} + ${name}_place * ${width}u + ${i}u);`,
      )
      .join("\n  ");
  const loadText = (
    name: "a" | "b",
  ) => `let ${name}_now = ${name}_step(from_${name}, step + ${name}_k);
    let ${name}_values = ${all((i) => `${name}_value(${name}_line_${i}, ${name}_now)`)};
    ${name}_tile[${name}_k * 16u + ${name}_place] = select(${zero}, ${name}_values, step + ${name}_k < u.k);`;
  return `var<workgroup> a_tile: array<${vector}, 256>;
var<workgroup> b_tile: array<${vector}, 256>;
${mainHead(256)}
  let tile = group.x + group.y * groups.x;
  let row = tile / u.columns * ${16 * width}u;
  let column = tile % u.columns * ${16 * width}u;
  let x = thread % 16u;
  let y = thread / 16u;
  let a_k = ${loaded.a[0]};
  let a_place = ${loaded.a[1]};
  let b_k = ${loaded.b[0]};
  let b_place = ${loaded.b[1]};
  ${linesText("a", "row")}
  ${linesText("b", "column")}
  ${range.map((i) => `var sum_${i} = ${zero};`).join("\n  ")}
  for (var step = first_step(group.z); step < last_step(group.z); step += 16u) {
    ${loadText("a")}
    ${loadText("b")}
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      let a = a_tile[k * 16u + y];
      let b = b_tile[k * 16u + x];
      ${range.map((i) => `sum_${i} += ${part("a", i)} * b;`).join("\n      ")}
    }
    workgroupBarrier();
  }
  let first_row = row + y * ${width}u;
  let first_column = column + x * ${width}u;
  ${resultsText("give(group.z", width, width, (i, j) => part(`sum_${i}`, j))}
}
`;
}
