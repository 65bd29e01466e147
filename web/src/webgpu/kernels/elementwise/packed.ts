// Elements of one byte, four of them in a word that one invocation writes.

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
