// Backward calls on the event loop, where there are no threads: a piece, whatever else the page has to do, the next piece.

import { checked, epoch, native } from "../runtime/bridge.js";
import { rejectAll } from "../runtime/keep_alive.js";
import { nextTask } from "../runtime/next_task.js";

/** Of the 16 ms between two frames, so that there is time to draw. */
const kPieceLength = 8; // ms

let servedEpoch = -1;

/** Runs the calls that wait, and those that come while it does. */
export function servePieces(): void {
  if (servedEpoch === epoch) return;
  servedEpoch = epoch;
  serve(epoch).catch((error) => rejectAll(() => error));
}

async function serve(started: number): Promise<void> {
  try {
    do {
      await nextTask();
    } while (started === epoch && checked(native.runPieces(kPieceLength)) !== 0);
  } finally {
    if (servedEpoch === started) servedEpoch = -1;
  }
}
