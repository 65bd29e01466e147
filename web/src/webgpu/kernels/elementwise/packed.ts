// Elements of one byte: one invocation writes a word of four elements.

import { itemSize } from "../../dtype";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach } from "../invocations";

/**
 * Returns the main function of a shader that writes the words of `name`: `u.count` words with `u.elements` elements.
 * `byte` is the WGSL expression for the byte of `element`.
 */
export function packedMain(name: string, byte: string): string {
  return forEach(`let first = 4u * i;
  let last = min(first + 4u, u.elements);
  var word = 0u;
  for (var element = first; element < last; element++) {
    word |= (${byte} & 255u) << (8u * (element & 3u));
  }
  if (last - first < 4u) {
    // Bytes after the last element belong to other memory.
    word |= load_${name}(i) & (0xffffffffu << (8u * (last - first)));
  }
  store_${name}(i, word);`);
}

/** Returns the parts of a shader that writes `elements` packed elements, each computed from its index. */
export function storeEach(name: string, view: View, elements: number) {
  const isPacked = itemSize(view.dtype) === 1 && view.offset % 4 === 0;
  const access: Access = { name, view, mode: "write", ...(isPacked ? { as: "word" } : {}) };
  return {
    access,
    key: isPacked ? "p" : "",
    uniforms: { count: isPacked ? Math.ceil(elements / 4) : elements, elements },
    /** `value` returns the WGSL expression for the element at index `i`, in the default type of the dtype. */
    main: (value: (i: string) => string): string =>
      isPacked ? packedMain(name, value("element")) : forEach(`store_${name}(i, ${value("i")});`),
  };
}
