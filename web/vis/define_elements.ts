// defineElements(): charts and panels as custom elements of a page.

import { fail } from "../errors/errors.js";
import { define, load } from "./elements/shells.js";

// On import, so that a framework that creates an element finds its properties.
define();

/**
 * Loads the code that draws the elements `<eg-line-chart>`, `<eg-histogram>`, `<eg-confusion-matrix>`, `<eg-attention-map>`, `<eg-image-grid>`,
 * `<eg-projector>`, `<eg-summary-table>`, `<eg-tape-graph>` and `<eg-profile>`. Importing `edgegrad/vis` defines the elements, and the first one
 * in a page loads the same code. A program that calls this draws them sooner, and is told if loading fails.
 */
export async function defineElements(): Promise<void> {
  if (globalThis.customElements === undefined)
    fail(
      "InvalidArgument",
      "defineElements",
      "custom elements are not available here: call it in a page.",
    );
  define();
  await load();
}
