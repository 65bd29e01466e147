// Measures one contender, in a worker of its own, whose device is gone when the worker is. Each library is loaded only here.

import { measureContender } from "../../../tests/bench/card/measure.mjs";
import { rowsOf } from "../../../tests/bench/card/rows.mjs";

/** What the page asks for. */
export interface Order {
  readonly name: string;
  readonly size: string;
}

/** What the page is told: a result of a row, the end, or the reason why there is none. */
export type Answer =
  | { readonly id: number; readonly value?: number; readonly error?: string }
  | { readonly isDone: true; readonly failure?: string };

const answer = (message: Answer) => postMessage(message);

addEventListener("message", async ({ data: { name, size } }: MessageEvent<Order>) => {
  try {
    await measureContender(name, rowsOf(size), size, answer);
    answer({ isDone: true });
  } catch (error) {
    answer({ isDone: true, failure: error instanceof Error ? error.message : String(error) });
  }
});
