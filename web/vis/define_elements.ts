// defineElements(): charts and panels as custom elements of a page.

import { fail } from "./errors.js";
import { ensureLanguage } from "./language.js";

/**
 * Loads the panels and makes them elements of the page: `<eg-line-chart>`, `<eg-histogram>`, `<eg-confusion-matrix>`, `<eg-attention-map>`,
 * `<eg-image-grid>`, `<eg-projector>`, `<eg-summary-table>`, `<eg-tape-graph>` and `<eg-profile>`. Those that stand in the page already are drawn then.
 */
export async function defineElements(): Promise<void> {
  if (globalThis.customElements === undefined)
    fail("InvalidArgument", "defineElements", "there are no elements here: call it in a page.");
  ensureLanguage();
  const { define } = await import("./elements/index.js");
  define();
}
