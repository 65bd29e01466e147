// Single elements selected by one index each: gather and scatter.

import type {
  AddElements,
  IndexedElements,
  PutElements,
  TakeElements,
} from "../../../generated/stream";
import { itemSize, kAnyDType } from "../../dtype";
import { elementType } from "../../element_types";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { storeEach } from "../elementwise/packed";
import { forEach, invocations } from "../invocations";
import type { Kernel } from "../kernel";
import { indexOf, mergeDimensions, product, sizeUniforms } from "../strides";
import { inWords, kAddable } from "./accumulate";

/**
 * Returns the parts that all shaders for indexed elements share. The size along `dim` is unknown, so an index is out of range when
 * its element is outside the memory.
 */
export function partsOf(selection: IndexedElements, indexed: View) {
  const { shape, dim, strides, index } = selection;
  const others = strides.map((stride, d) => (d === dim ? 0 : stride));
  const space = mergeDimensions(shape, [others]);
  const base = indexOf(space, 0, "base");
  const limit = Math.floor((indexed.block.size - indexed.offset) / itemSize(indexed.dtype));
  const memory: Access[] = [{ name: "index", view: index, mode: "read", as: "index" }];
  return {
    key: `${space.sizes.length} ${base.key}`,
    count: product(shape),
    limit,
    memory,
    uniforms: {
      ...sizeUniforms(space),
      ...base.uniforms,
      step: strides[dim] as number,
      limit,
    },
    functions: `${base.text("base_of")}
// Returns u.limit for an index out of range.
fn place_of(i: u32) -> u32 {
  let index = load_index(i);
  let place = base_of(i) + u32(index) * u.step;
  if (index < 0 || place >= u.limit) {
    return u.limit;
  }
  return place;
}
`,
  };
}

export const takeElements: Kernel<TakeElements> = {
  supported: { views: [["int64"], kAnyDType, kAnyDType] },

  play({ selection, indexed, packed }, commands): void {
    const parts = partsOf(selection, indexed);
    const store = storeEach("packed", packed, parts.count);
    commands.dispatch({
      key: `take_elements ${parts.key} ${store.key}`,
      memory: [store.access, ...parts.memory, { name: "indexed", view: indexed, mode: "read" }],
      uniforms: { u32: { ...parts.uniforms, ...store.uniforms } },
      workgroups: invocations(store.uniforms.count),
      body: () =>
        parts.functions + store.main((i) => `load_indexed(min(place_of(${i}), u.limit - 1u))`),
    });
  },
};

export const putElements: Kernel<PutElements> = {
  supported: { views: [["int64"], kAnyDType, kAnyDType] },

  play({ selection, packed, indexed }, commands): void {
    const { key, count, limit, memory, uniforms, functions } = partsOf(selection, indexed);
    if (count === 0) return;
    // The last of equal indices wins, so it has to be determined before anything is written.
    const winner = commands.scratch(4 * limit, "int32");
    commands.clear(winner);
    commands.dispatch({
      key: `put_elements winner ${key}`,
      memory: [...memory, { name: "winner", view: winner, mode: "atomic" }],
      uniforms: { u32: { ...uniforms, count } },
      workgroups: invocations(count),
      body: () =>
        functions +
        forEach(`let place = place_of(i);
  if (place < u.limit) {
    _ = max_winner(place, i32(i + 1u));
  }`),
    });
    commands.dispatch({
      key: `put_elements ${key}`,
      memory: [
        ...memory,
        { name: "winner", view: winner, mode: "read" },
        { name: "packed", view: packed, mode: "read" },
        { name: "indexed", view: indexed, mode: "write" },
      ],
      uniforms: { u32: { ...uniforms, count } },
      workgroups: invocations(count),
      body: () =>
        functions +
        forEach(`let place = place_of(i);
  if (place < u.limit && load_winner(place) == i32(i + 1u)) {
    store_indexed(place, load_packed(i));
  }`),
    });
  },
};

export const addElements: Kernel<AddElements> = {
  supported: { views: [["int64"], kAddable, kAddable] },

  play({ selection, packed, indexed }, commands): void {
    const parts = partsOf(selection, indexed);
    const { key, count, limit, memory, uniforms, functions } = parts;
    inWords(commands, indexed, limit, (words) => {
      commands.dispatch({
        key: `add_elements ${key}`,
        memory: [
          ...memory,
          { name: "packed", view: packed, mode: "read", as: elementType(words.dtype) },
          { name: "indexed", view: words, mode: "atomic" },
        ],
        uniforms: { u32: { ...uniforms, count } },
        workgroups: invocations(count),
        body: () =>
          functions +
          forEach(`let place = place_of(i);
  if (place < u.limit) {
    _ = add_indexed(place, load_packed(i));
  }`),
      });
    });
  },
};
