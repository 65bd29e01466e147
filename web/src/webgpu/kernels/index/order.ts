// Indices of the elements of rows in sorted order, and of the most frequent elements. Sorting is stable, and NaN is the
// largest value.
//
// In a short row, every element counts the elements that precede it. Long rows are sorted by the digits of their keys, from the
// lowest to the highest (radix sort). For each digit, invocations count the digits in their run of the row; a scan of the counts says
// where the elements of each run with each digit begin; and the invocations move their elements there, in order.

import type { ModeRows, OrderRows } from "../../../generated/stream";
import { itemSize, kRealDTypes } from "../../dtype";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { dispatchRows } from "../nn/rows";
import { type OrderedType, orderedType } from "../ordered";
import { dispatchScan } from "../reduce/scan";

const kLongRow = 2048;

export const orderRows: Kernel<OrderRows> = {
  supported: { views: [kRealDTypes, ["int64"]] },

  play(order, commands): void {
    const { outer, size, inner } = order.rows;
    if (outer * size * inner * order.count === 0) return;
    if (size > kLongRow) sortByDigits(commands, order);
    else countBefore(commands, order);
  },
};

function readAccess(x: View): { access: Access; type: OrderedType } {
  const type = orderedType(x.dtype);
  return { access: { name: "x", view: x, mode: "read", as: type }, type };
}

const kKeys: Readonly<Record<OrderedType, string>> = {
  f32: "select(bits | kSignBit, ~bits, bits >= kSignBit)",
  i32: "bitcast<u32>(load_x(at)) ^ kSignBit",
  i64: "load_x(at) ^ vec2(0u, kSignBit)",
};

// The WGSL of key_of(at): an unsigned integer with the same order as the elements, of one word or two. precedes(a, b) compares keys.
function keyText(type: OrderedType, descending: boolean): string {
  const key = kKeys[type];
  const bits = `let x = load_x(at);
  if (is_nan_f32(x)) {
    return ${descending ? "0u" : "0xffffffffu"};
  }
  // Both zeros are equal.
  let bits = select(bitcast<u32>(x), 0u, abs_f32(x) == 0f);`;
  const less = type === "i64" ? "select(a.y < b.y, a.x < b.x, a.y == b.y)" : "a < b";
  return `alias Key = ${type === "i64" ? "vec2<u32>" : "u32"};
fn precedes(a: Key, b: Key) -> bool { return ${less}; }
fn key_of(at: u32) -> Key {
  ${type === "f32" ? bits : ""}
  return ${descending ? `~(${key})` : key};
}
`;
}

// Stores the index of the element with a rank, if the rank is requested. Indices are packed as [outer, count, inner].
const kStoreRank = `fn store_rank(outer: u32, inner: u32, rank: u32, index: u32) {
  if (rank >= u.first && rank - u.first < u.wanted) {
    store_indices((outer * u.wanted + rank - u.first) * u.inner + inner, i32(index));
  }
}
`;

function uniformsOf({ rows, first, count }: OrderRows): Record<string, number> {
  return { size: rows.size, inner: rows.inner, first, wanted: count };
}

function countBefore(commands: Commands, order: OrderRows): void {
  const { rows, descending, indices } = order;
  const { access, type } = readAccess(order.x);
  const count = rows.outer * rows.size * rows.inner;
  commands.dispatch({
    key: `order_rows ${descending}`,
    memory: [access, { name: "indices", view: indices, mode: "write", as: "index" }],
    uniforms: { u32: { count, ...uniformsOf(order) } },
    workgroups: invocations(count),
    body: () =>
      keyText(type, descending) +
      kStoreRank +
      forEach(`let inner = i % u.inner;
  let outer = i / (u.inner * u.size);
  let own = i / u.inner % u.size;
  let key = key_of(i);
  var at = outer * u.size * u.inner + inner;
  var rank = 0u;
  for (var k = 0u; k < u.size; k++) {
    let other = key_of(at);
    rank += select(0u, 1u, precedes(other, key) || (all(other == key) && k < own));
    at += u.inner;
  }
  store_rank(outer, inner, rank, own);`),
  });
}

/** The bits of a digit, and its values. */
const kDigitBits = 4;
const kDigits = 2 ** kDigitBits;
/** The elements that an invocation moves, one after the other. */
const kRun = { hardware: 64, software: 256 };

function sortByDigits(commands: Commands, order: OrderRows): void {
  const { rows, descending, indices } = order;
  const { access, type } = readAccess(order.x);
  const positions = rows.outer * rows.inner;
  const total = positions * rows.size;
  const run = commands.isSoftware ? kRun.software : kRun.hardware;
  const runs = Math.ceil(rows.size / run);
  const words = (count: number) => commands.scratch(4 * count, "int32");
  const counts = words(positions * kDigits * runs);
  let from = { keys: words(total), places: words(total) };
  let to = { keys: words(total), places: words(total) };
  const word = (name: string, view: View, mode: Access["mode"]): Access => ({
    ...{ name, view, mode, as: "word" },
  });
  const uniforms = uniformsOf(order);
  // The keys of elements of one byte differ in the lowest bits only.
  const bits = itemSize(order.x.dtype) === 1 ? 8 : type === "i64" ? 64 : 32;
  for (let done = 0; done < bits; done += kDigitBits) {
    const shift = done % 32;
    if (shift === 0) {
      const isFirst = done === 0;
      const part = type !== "i64" ? "" : isFirst ? ".x" : ".y";
      commands.dispatch({
        key: `order_rows keys ${descending} ${isFirst}`,
        memory: [access, word("keys", from.keys, "write"), word("places", from.places, "write")],
        uniforms: { u32: { count: total, ...uniforms } },
        workgroups: invocations(total),
        body: () =>
          keyText(type, descending) +
          forEach(`let position = i / u.size;
  let k = ${isFirst ? "i % u.size" : "load_places(i)"};
  store_keys(i, key_of((position / u.inner * u.size + k) * u.inner + position % u.inner)${part});
  store_places(i, k);`),
      });
    }
    const own = { count: positions * runs, size: rows.size, run, runs, shift };
    commands.dispatch({
      key: "order_rows digits",
      memory: [word("keys", from.keys, "read"), word("counts", counts, "write")],
      uniforms: { u32: own },
      workgroups: invocations(own.count),
      body: () =>
        kRunText(`var counts: array<u32, ${kDigits}>;
  for (var at = begin; at < end; at++) {
    counts[(load_keys(at) >> u.shift) & ${kDigits - 1}u]++;
  }
  for (var digit = 0u; digit < ${kDigits}u; digit++) {
    store_counts(first_count + digit * u.runs, counts[digit]);
  }`),
    });
    dispatchScan(
      commands,
      { outer: positions, size: kDigits * runs, inner: 1 },
      {
        key: "order_rows starts",
        memory: [word("counts", counts, "write")],
        ...{ type: "u32", combine: "return a + b;" },
        ...{ load: "load_counts(at)", store: "store_counts(at, total);" },
        ...{ pack: ["total"], unpack: "words[0]" },
      },
    );
    commands.dispatch({
      key: "order_rows move",
      memory: [
        word("counts", counts, "read"),
        ...[word("keys", from.keys, "read"), word("places", from.places, "read")],
        ...[word("to_keys", to.keys, "write"), word("to_places", to.places, "write")],
      ],
      uniforms: { u32: own },
      workgroups: invocations(own.count),
      body: () =>
        kRunText(`var next: array<u32, ${kDigits}>;
  for (var digit = 0u; digit < ${kDigits}u; digit++) {
    // What comes before: a scan includes the element itself.
    let at = first_count + digit * u.runs;
    next[digit] = position * u.size;
    if (digit > 0u || i % u.runs > 0u) {
      next[digit] += load_counts(at - 1u);
    }
  }
  for (var at = begin; at < end; at++) {
    let key = load_keys(at);
    let digit = (key >> u.shift) & ${kDigits - 1}u;
    store_to_keys(next[digit], key);
    store_to_places(next[digit], load_places(at));
    next[digit]++;
  }`),
    });
    [from, to] = [to, from];
  }
  const count = positions * order.count;
  commands.dispatch({
    key: "order_rows indices",
    memory: [
      word("places", from.places, "read"),
      { name: "indices", view: indices, mode: "write", as: "index" },
    ],
    uniforms: { u32: { count, ...uniforms } },
    workgroups: invocations(count),
    body: () =>
      kStoreRank +
      forEach(`let position = i / u.wanted;
  let rank = u.first + i % u.wanted;
  store_rank(position / u.inner, position % u.inner, rank, load_places(position * u.size + rank));`),
  });
}

// Runs `work` for every run of every row, whose elements are at `begin` to `end`.
const kRunText = (work: string) =>
  forEach(`let position = i / u.runs;
  let begin = position * u.size + i % u.runs * u.run;
  let end = min(begin + u.run, (position + 1u) * u.size);
  let first_count = position * ${kDigits}u * u.runs + i % u.runs;
  ${work}`);

export const modeRows: Kernel<ModeRows> = {
  supported: { views: [kRealDTypes, ["int64"]] },

  play({ rows, x, indices }, commands): void {
    const { access, type } = readAccess(x);
    if (rows.size === 0) return;
    dispatchRows(commands, rows, {
      key: "mode_rows",
      memory: [access, { name: "indices", view: indices, mode: "write", as: "index" }],
      combine: { best_of_lanes: { type: "Mode", text: "better(a, b)" } },
      functions: `${keyText(type, false)}
struct Mode { count: u32, key: Key, last: u32 }
fn better(a: Mode, b: Mode) -> Mode {
  if (b.count > a.count || (b.count == a.count && precedes(b.key, a.key))) {
    return b;
  }
  return a;
}`,
      work: `var best = Mode(0u, Key(), 0u);
  for (var k = lane; k < u.size; k += kLanes) {
    var mode = Mode(0u, key_of(first + k * u.inner), 0u);
    for (var other = 0u; other < u.size; other++) {
      if (all(key_of(first + other * u.inner) == mode.key)) {
        mode.count++;
        mode.last = other;
      }
    }
    best = better(best, mode);
  }
  best = best_of_lanes(thread, best);
  if (lane == 0u && is_inside) {
    store_indices(position, i32(best.last));
  }`,
    });
  },
};
