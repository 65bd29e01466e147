// Matrix products that are not tiled: results with few rows or columns (depthwise convolutions have one channel in a group), and int64.

import { kWgslTypes } from "../../element_types";
import type { Commands } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane } from "../lanes";
import { factorText, type TiledProduct } from "./tiled_product";

/** With fewer rows or columns, tiles would be mostly empty. */
const kFewest = 4;

/** Whether a product is not tiled. */
export function isForLanes({ m, n, k, type }: TiledProduct): boolean {
  return Math.min(m, n) < kFewest || k === 0 || type === "i64";
}

/** The WGSL of a sum of two numbers. */
export function sumText(type: TiledProduct["type"], a: string, b: string): string {
  return type === "i64" ? `add_i64(${a}, ${b})` : `${a} + ${b}`;
}

/** The WGSL of a product of two numbers. */
export function productText(type: TiledProduct["type"], a: string, b: string): string {
  return type === "i64" ? `mul_i64(${a}, ${b})` : `${a} * ${b}`;
}

/** Multiplies matrices: every result has lanes, which share its sum. */
export function multiplyInLanes(commands: Commands, call: TiledProduct): void {
  const a = factorText(call, "a", "a_value(of_a, a_step(from_a, k))");
  const b = factorText(call, "b", "b_value(of_b, b_step(from_b, k))");
  const { m, n, k, count, type, isARowMajor, isBRowMajor, key, memory, uniforms, functions } = call;
  const positions = count * m * n;
  // The layout of the larger operand decides.
  const isRowMajor = n <= m ? isARowMajor : !isBRowMajor;
  const isTall = n <= m;
  const chosen = chooseLanes(commands, positions, k, isRowMajor);
  const [row, column] = isTall ? ["rest / u.n", "rest % u.n"] : ["rest % u.m", "rest / u.m"];
  const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
    key: `vector_product ${isTall} ${key}`,
    memory,
    uniforms: { ...uniforms, u32: { ...uniforms.u32, positions } },
    stores: call.stores ?? [],
    body: () =>
      [
        functions(),
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
  let of_a = a_line(from_a, row);
  let of_b = b_line(from_b, column);
  var sum = ${kWgslTypes[type]}();
  for (var k = lane; k < u.k; k += kLanes) {
    sum = ${sumText(type, "sum", productText(type, a, b))};
  }
  sum = sum_of_lanes(thread, sum);
  if (lane == 0u && is_inside) {
    finish(first_c(batch), row, column, sum);
  }`,
        ),
      ].join("\n"),
  }));
  commands.dispatch(dispatch);
}
