// Whole slices selected by index: memory is seen as [outer, rows, inner].

import type { AddRows, IndexedRows, PutRows, TakeRows } from "../../../generated/stream";
import { kAnyDType } from "../../dtype";
import { elementType } from "../../element_types";
import { storeEach } from "../elementwise/packed";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";
import { inWords, kAddable } from "./accumulate";
import { kInside } from "./checked";

// For element i of [outer, count, inner]: its `k`, and its position in [outer, rows, inner] for a given row.
const kPlace = `fn k_of(i: u32) -> u32 { return i / u.inner % u.indices; }
fn place_of(i: u32, row: u32) -> u32 {
  return (i / (u.inner * u.indices) * u.rows + row) * u.inner + i % u.inner;
}
${kInside}`;

function uniformsOf({ rows, inner, count }: IndexedRows): Record<string, number> {
  return { rows, inner, indices: count };
}

export const takeRows: Kernel<TakeRows> = {
  supported: { views: [["int64"], kAnyDType, kAnyDType] },

  play({ selection, indexed, packed }, commands): void {
    const elements = selection.outer * selection.count * selection.inner;
    const store = storeEach("packed", packed, elements);
    commands.dispatch({
      key: `take_rows ${store.key}`,
      memory: [
        store.access,
        { name: "index", view: selection.index, mode: "read", as: "index" },
        { name: "indexed", view: indexed, mode: "read" },
      ],
      uniforms: { u32: { ...uniformsOf(selection), ...store.uniforms } },
      workgroups: invocations(store.uniforms.count),
      stores: packed.dtype === "float32" ? [{ name: "packed", count: elements }] : [],
      body: () =>
        kPlace +
        store.main(
          (i) => `load_indexed(place_of(${i}, checked_index(load_index(k_of(${i})), u.rows)))`,
        ),
    });
  },
};

export const putRows: Kernel<PutRows> = {
  supported: { views: [["int64"], kAnyDType, kAnyDType] },

  play({ selection, packed, indexed }, commands): void {
    const { outer, rows, count, inner, index } = selection;
    const elements = outer * count * inner;
    if (elements === 0) return;
    // The last of equal indices wins, so it has to be determined before anything is written.
    const winner = commands.scratch(4 * rows, "int32");
    commands.clear(winner);
    const indexAccess = { name: "index", view: index, mode: "read", as: "index" } as const;
    commands.dispatch({
      key: "put_rows winner",
      memory: [indexAccess, { name: "winner", view: winner, mode: "atomic" }],
      uniforms: { u32: { count, rows } },
      workgroups: invocations(count),
      body: () =>
        kInside +
        forEach(`let row = load_index(i);
  if (is_index(row, u.rows)) {
    _ = max_winner(u32(row), i32(i + 1u));
  }`),
    });
    commands.dispatch({
      key: "put_rows",
      memory: [
        indexAccess,
        { name: "winner", view: winner, mode: "read" },
        { name: "packed", view: packed, mode: "read" },
        { name: "indexed", view: indexed, mode: "write" },
      ],
      uniforms: { u32: { count: elements, ...uniformsOf(selection) } },
      workgroups: invocations(elements),
      body: () =>
        kPlace +
        forEach(`let k = k_of(i);
  let row = load_index(k);
  if (is_index(row, u.rows) && load_winner(u32(row)) == i32(k + 1u)) {
    store_indexed(place_of(i, u32(row)), load_packed(i));
  }`),
    });
  },
};

export const addRows: Kernel<AddRows> = {
  supported: { views: [["int64"], kAddable, kAddable] },

  play({ selection, packed, indexed, skip }, commands): void {
    const { outer, rows, count, inner, index } = selection;
    inWords(commands, indexed, outer * rows * inner, (words) => {
      const elements = outer * count * inner;
      commands.dispatch({
        key: "add_rows",
        memory: [
          { name: "index", view: index, mode: "read", as: "index" },
          { name: "packed", view: packed, mode: "read", as: elementType(words.dtype) },
          { name: "indexed", view: words, mode: "atomic" },
        ],
        uniforms: {
          u32: { count: elements, ...uniformsOf(selection) },
          i32: { skip },
        },
        workgroups: invocations(elements),
        body: () =>
          kPlace +
          forEach(`let row = load_index(k_of(i));
  if (row != u.skip && is_index(row, u.rows)) {
    _ = add_indexed(place_of(i, u32(row)), load_packed(i));
  }`),
      });
    });
  },
};
