// Indices of the elements of rows in sorted order, and of the most frequent elements. Sorting is stable, and NaN is the
// largest value.
//
// In a short row, every element counts the elements that precede it. Long rows are sorted with Batcher's bitonic
// network, one dispatch per step.

import type { ModeRows, OrderRows } from "../../../generated/stream";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import { dispatchRows } from "../nn/rows";
import { type OrderedType, orderedType } from "../ordered";

const kLongRow = 2048;

export const orderRows: Kernel<OrderRows> = {
  supported: { views: [["float32", "int32", "int64", "uint8", "bool"], ["int64"]] },

  play(order, commands): void {
    const { outer, size, inner } = order.rows;
    if (outer * size * inner * order.count === 0) return;
    if (size > kLongRow) sortInSteps(commands, order);
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
  return `${precedesText(type)}fn key_of(at: u32) -> Key {
  ${type === "f32" ? bits : ""}
  return ${descending ? `~(${key})` : key};
}
`;
}

function precedesText(type: OrderedType): string {
  const less = type === "i64" ? "select(a.y < b.y, a.x < b.x, a.y == b.y)" : "a < b";
  return `alias Key = ${type === "i64" ? "vec2<u32>" : "u32"};
fn precedes(a: Key, b: Key) -> bool { return ${less}; }
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

function sortInSteps(commands: Commands, order: OrderRows): void {
  const { rows, descending, indices } = order;
  const { access, type } = readAccess(order.x);
  const positions = rows.outer * rows.inner;
  // Rows are padded to a power of two with the largest key.
  let length = 1;
  while (length < rows.size) length *= 2;
  const total = positions * length;
  const keys =
    type === "i64" ? commands.scratch(8 * total, "int64") : commands.scratch(4 * total, "int32");
  const places = commands.scratch(4 * total, "int32");
  const sorted: Access[] = [
    { name: "keys", view: keys, mode: "write", as: type === "i64" ? "i64" : "word" },
    { name: "places", view: places, mode: "write", as: "word" },
  ];
  const uniforms = { ...uniformsOf(order), row: length };
  commands.dispatch({
    key: `order_rows keys ${descending}`,
    memory: [access, ...sorted],
    uniforms: { u32: { count: total, ...uniforms } },
    workgroups: invocations(total),
    body: () =>
      keyText(type, descending) +
      forEach(`let position = i / u.row;
  let k = i % u.row;
  var key = Key(0xffffffffu);
  if (k < u.size) {
    key = key_of((position / u.inner * u.size + k) * u.inner + position % u.inner);
  }
  store_keys(i, key);
  store_places(i, k);`),
  });
  for (let block = 2; block <= length; block *= 2)
    for (let step = block / 2; step >= 1; step /= 2)
      commands.dispatch({
        key: "order_rows step",
        memory: sorted,
        uniforms: { u32: { count: total / 2, row: length, block, step } },
        workgroups: invocations(total / 2),
        body: () =>
          precedesText(type) +
          forEach(`let low = i / u.step * u.step * 2u + i % u.step;
  let high = low + u.step;
  let rises = ((low % u.row) & u.block) == 0u;
  let a = load_keys(low);
  let b = load_keys(high);
  let a_place = load_places(low);
  let b_place = load_places(high);
  let is_after = precedes(b, a) || (all(a == b) && a_place > b_place);
  if (is_after == rises) {
    store_keys(low, b);
    store_places(low, b_place);
    store_keys(high, a);
    store_places(high, a_place);
  }`),
      });
  const count = positions * order.count;
  commands.dispatch({
    key: "order_rows indices",
    memory: [
      { name: "places", view: places, mode: "read", as: "word" },
      { name: "indices", view: indices, mode: "write", as: "index" },
    ],
    uniforms: { u32: { count, ...uniforms } },
    workgroups: invocations(count),
    body: () =>
      kStoreRank +
      forEach(`let position = i / u.wanted;
  let rank = u.first + i % u.wanted;
  store_rank(position / u.inner, position % u.inner, rank, load_places(position * u.row + rank));`),
  });
}

export const modeRows: Kernel<ModeRows> = {
  supported: { views: [["float32", "int32", "int64", "uint8", "bool"], ["int64"]] },

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
