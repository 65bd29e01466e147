// The script that pages of the docs load when somebody runs a program: `live.js` in the folder of the site.

import type { LiveBlock, LivePanel } from "./panel.js";

/** Makes a program of a page live. */
export async function open(block: LiveBlock): Promise<LivePanel> {
  const { LivePanel } = await import("./panel.js");
  return new LivePanel(block);
}
