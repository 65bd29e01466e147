// Elements that share words: one invocation writes all elements of a word.

import { type DType, sharesWords } from "../../dtype";
import { packingOf } from "../../element_types";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { forEach } from "../invocations";

/** Whether the words of a view can be written as a whole: by invocations that write all elements of one. */
export function isPacked({ dtype, offset }: View): boolean {
  return sharesWords(dtype) && offset % 4 === 0;
}

/** Returns the number of words that hold packed elements. */
export function packedWords(dtype: DType, elements: number): number {
  return Math.ceil(elements / packingOf(dtype).perWord);
}

/**
 * Returns the main function of a shader that writes the words of `name`: `u.count` words with `u.elements` elements.
 * `value` is the WGSL expression for `element`, in the default type of the dtype.
 */
export function packedMain(name: string, dtype: DType, value: string): string {
  const { perWord, shift, bits } = packingOf(dtype);
  return forEach(`let first = ${perWord}u * i;
  let last = min(first + ${perWord}u, u.elements);
  var word = 0u;
  for (var element = first; element < last; element++) {
    word |= ${bits(value)} << ${shift("element")};
  }
  if (last - first < ${perWord}u) {
    // What follows the last element belongs to other memory.
    word |= load_${name}(i) & (0xffffffffu << ${shift("(last - first)")});
  }
  store_${name}(i, word);`);
}

/** Returns the parts of a shader that writes `elements` elements to contiguous memory, each computed from its index. */
export function storeEach(name: string, view: View, elements: number) {
  const inWords = isPacked(view);
  const access: Access = { name, view, mode: "write", ...(inWords ? { as: "word" } : {}) };
  return {
    access,
    key: inWords ? "p" : "",
    uniforms: { count: inWords ? packedWords(view.dtype, elements) : elements, elements },
    /** `value` returns the WGSL expression for the element at index `i`, in the default type of the dtype. */
    main: (value: (i: string) => string): string =>
      inWords
        ? packedMain(name, view.dtype, value("element"))
        : forEach(`store_${name}(i, ${value("i")});`),
  };
}
