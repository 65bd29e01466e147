// The frame of products of matrices: workgroups that make square tiles of the result.

import type { Access, Numbers } from "../../shader";
import { workgroups } from "../invocations";
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
  /** What tilesText asks for. */
  functions(): string;
}

/** The most workgroups in a direction; there are enough of them in two for all tiles. */
const kMostBatches = 65535;

export function dispatchTiles(commands: Commands, call: TiledProduct): void {
  const { key, memory, numbers, m, n, k, count, type, isARowMajor, isBRowMajor } = call;
  const width = chooseWidth(call);
  const tile = 16 * width;
  const columns = Math.ceil(n / tile);
  const [x, y] = workgroups(columns * Math.ceil(m / tile));
  for (let first = 0; first < count; first += kMostBatches) {
    commands.dispatch({
      key: `${key} ${width} ${isARowMajor} ${isBRowMajor}`,
      memory,
      numbers: { ...numbers, u32: { ...numbers.u32, m, n, k, columns, first_batch: first } },
      workgroups: [x, y, Math.min(kMostBatches, count - first)],
      body: () => `${call.functions()}\n${tilesText(type, width, isARowMajor, isBRowMajor)}`,
    });
  }
}

/** Results along a side of an invocation's square: large where there is enough for many workgroups. */
function chooseWidth({ m, n, count }: TiledProduct): 1 | 2 | 4 {
  const enough = 48;
  for (const width of [4, 2] as const) {
    const tile = 16 * width;
    const tiles = Math.ceil(m / tile) * Math.ceil(n / tile) * count;
    if (tiles >= enough && m > tile / 2 && n > tile / 2) return width;
  }
  return 1;
}

/**
 * The main function. A shader gives first_a(batch), first_b and first_c, which say where matrices begin, and with
 * that a_inside(first, row, column), b_inside(first, row, column), which are 0 beyond u.m, u.n and u.k, and
 * finish(first, row, column, sum). Every invocation makes `width` x `width` results.
 */
function tilesText(
  type: string,
  width: 1 | 2 | 4,
  isARowMajor: boolean,
  isBRowMajor: boolean,
): string {
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
  let batch = u.first_batch + group.z;
  let from_a = first_a(batch);
  let from_b = first_b(batch);
  let tile = group.x + group.y * groups.x;
  let row = tile / u.columns * ${16 * width}u;
  let column = tile % u.columns * ${16 * width}u;
  let x = thread % 16u;
  let y = thread / 16u;
  ${places.map((i) => `var sum_${i} = ${vector}(0);`).join("\n  ")}
  for (var step = 0u; step < u.k; step += 16u) {
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
  let from_c = first_c(batch);
  ${places
    .flatMap((i) =>
      places.map(
        (j) => `if (row + y * ${width}u + ${i}u < u.m && column + x * ${width}u + ${j}u < u.n) {
    finish(from_c, row + y * ${width}u + ${i}u, column + x * ${width}u + ${j}u, ${part(`sum_${i}`, j)});
  }`,
      ),
    )
    .join("\n  ")}
}
`;
}
