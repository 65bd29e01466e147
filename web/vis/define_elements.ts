// defineElements(): charts and panels as custom elements of a page.

import { fail } from "../errors/errors.js";
import { define, load } from "./elements/shells.js";

// At once, so that a framework that makes an element finds its properties.
define();

/**
 * Loads what draws the elements of a page: `<eg-line-chart>`, `<eg-histogram>`, `<eg-confusion-matrix>`, `<eg-attention-map>`,
 * `<eg-image-grid>`, `<eg-projector>`, `<eg-summary-table>`, `<eg-tape-graph>` and `<eg-profile>`. The elements are there when `edgegrad/vis` is
 * imported, and the first in the page loads the same; a program that calls this shows them sooner, and learns when that fails.
 */
export async function defineElements(): Promise<void> {
  if (globalThis.customElements === undefined)
    fail("InvalidArgument", "defineElements", "there are no elements here: call it in a page.");
  define();
  await load();
}
