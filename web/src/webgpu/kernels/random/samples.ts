// Random numbers with parameters for each element or row. What breaks the rules of a parameter is reported in the status words.

import type {
  DrawPoisson,
  DrawPositions,
  DrawRaces,
  PhiloxPosition,
  WeightRows,
} from "../../../generated/stream";
import type { Access } from "../../shader";
import { kReport, statusOf } from "../index/checked";
import { bisection } from "../index/search";
import { forEach, invocations } from "../invocations";
import { type Commands, isWhole, type Kernel } from "../kernel";
import { kWords, uniformsOf } from "./draw";

export const drawPoisson: Kernel<DrawPoisson> = {
  supported: { all: ["float32"] },

  play({ count, position, rates, y }, commands): void {
    const status = statusOf(commands, "rates must not be negative: see element");
    commands.dispatch({
      key: "draw_poisson",
      memory: [
        { name: "rates", view: rates, mode: "read" },
        { name: "y", view: y, mode: "write" },
        status.access,
      ],
      // An element has a group of its own.
      uniforms: {
        u32: { ...uniformsOf(position, { first: 0, count: 4 * count }), ...status.uniforms },
      },
      workgroups: invocations(count),
      body: () =>
        kReport +
        forEach(`let rate = load_rates(i);
  if (is_nan_f32(rate) || rate < 0f) {
    report(vec2(i, 0u));
    return;
  }
  store_y(i, poisson_f32(rate, vec2(u.group_low, u.group_high), i, vec2(u.key_low, u.key_high)));`),
    });
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};

interface Draw {
  readonly key: string;
  /** The number of results, and of those of each row. */
  readonly count: number;
  readonly perRow: number;
  readonly memory: readonly Access[];
  /** WGSL that sets `numbers` to four random numbers from `words`. */
  readonly numbers: string;
  /** WGSL that computes the result `at`, one of row `row`, from `number`. */
  readonly each: string;
}

function drawFrom(
  commands: Commands,
  { size, weights, least, most }: WeightRows,
  position: PhiloxPosition,
  { key, count, perRow, memory, numbers, each }: Draw,
): void {
  const status = statusOf(
    commands,
    "weights must be finite, not negative, and not all zero: see row",
  );
  commands.dispatch({
    key,
    memory: [
      { name: "weights", view: weights, mode: "read" },
      { name: "least", view: least, mode: "read" },
      { name: "most", view: most, mode: "read" },
      ...memory,
      status.access,
    ],
    uniforms: {
      u32: {
        ...uniformsOf(position, { first: 0, count }),
        size,
        per_row: perRow,
        ...status.uniforms,
      },
    },
    workgroups: invocations(Math.ceil(count / 4)),
    body: () =>
      kReport +
      forEach(`let words = ${kWords};
  let numbers = ${numbers};
  for (var at = 4u * i; at < min(4u * i + 4u, u.elements); at++) {
    let number = numbers[at & 3u];
    let row = at / u.per_row;
    if (load_least(row) < 0f || load_most(row) <= 0f || !is_finite_f32(load_most(row))) {
      report(vec2(row, 0u));
    }
    ${each}
  }`),
  });
}

export const drawRaces: Kernel<DrawRaces> = {
  supported: { all: ["float32"] },

  play({ from, position, quotients }, commands): void {
    drawFrom(commands, from, position, {
      key: "draw_races",
      count: from.rows * from.size,
      perRow: from.size,
      memory: [{ name: "quotients", view: quotients, mode: "write" }],
      numbers: "exponentials_f32(words)",
      // A wait of 0 would divide by zero.
      each: "store_quotients(at, load_weights(at) / max(number, 1e-8f));",
    });
  },

  overwrites: ({ from, quotients }) => isWhole(quotients, from.rows * from.size),
};

export const drawPositions: Kernel<DrawPositions> = {
  supported: { views: [["float32"], ["float32"], ["float32"], ["float32"], ["int64"]] },

  play({ from, count, position, sums, positions }, commands): void {
    drawFrom(commands, from, position, {
      key: "draw_positions",
      count: from.rows * count,
      perRow: count,
      memory: [
        { name: "sums", view: sums, mode: "read" },
        { name: "positions", view: positions, mode: "write", as: "index" },
      ],
      numbers: "uniform_f32(words)",
      // Sums that were added in another order may grow where the weight is zero.
      each: `let first = row * u.size;
    let turn = number * load_sums(first + u.size - 1u);
    ${bisection("sums", "middle <= turn")}
    begin = min(begin, u.size - 1u);
    while (begin > 0u && load_weights(first + begin) == 0f) {
      begin--;
    }
    store_positions(at, i32(begin));`,
    });
  },

  overwrites: ({ from, count, positions }) => isWhole(positions, from.rows * count),
};
