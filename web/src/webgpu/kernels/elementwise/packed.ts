// Elements of one byte, four of them in a word that one invocation writes.

import { itemSize } from "../../dtype";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach } from "../invocations";

/**
 * The main function of a shader that writes the words of `name`: `u.count` words of `u.elements` elements.
 * `byte` gives the byte of `element`.
 */
export function packedMain(name: string, byte: string): string {
  return forEach(`let first = 4u * i;
  let last = min(first + 4u, u.elements);
  var word = 0u;
  for (var element = first; element < last; element++) {
    word |= (${byte} & 255u) << (8u * (element & 3u));
  }
  if (last - first < 4u) {
    // What lies behind the last element is somebody else's.
    word |= load_${name}(i) & (0xffffffffu << (8u * (last - first)));
  }
  store_${name}(i, word);`);
}

/** How a shader writes `elements` packed elements, each computed from its number alone. */
export function storeEach(name: string, view: View, elements: number) {
  const isPacked = itemSize(view.dtype) === 1 && view.offset % 4 === 0;
  const access: Access = { name, view, mode: "write", ...(isPacked ? { as: "word" } : {}) };
  return {
    access,
    key: isPacked ? "p" : "",
    uniforms: { count: isPacked ? Math.ceil(elements / 4) : elements, elements },
    /** `value` of an element is of the dtype's own type. */
    main: (value: (i: string) => string): string =>
      isPacked ? packedMain(name, value("element")) : forEach(`store_${name}(i, ${value("i")});`),
  };
}
