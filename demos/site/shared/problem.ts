// What has gone wrong on a page: its elements #problem and #status.

import { byId } from "./frame.js";
import { errorText } from "./printed.js";

/** Shows a problem; null hides the last one. */
export function showProblem(text: string | null): void {
  const problem = byId("problem");
  problem.hidden = text === null;
  problem.textContent = text;
}

/** Does what the visitor has asked for, and shows what goes wrong, after `giveUp`. */
export async function attempt(
  work: () => void | Promise<void>,
  giveUp: () => void = () => {},
): Promise<void> {
  showProblem(null);
  try {
    await work();
  } catch (error) {
    giveUp();
    byId("status").textContent = "";
    showProblem(errorText(error));
  }
}
