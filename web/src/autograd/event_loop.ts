// Asynchronous backward calls where there are no threads: they run in time slices between other tasks of the event loop.

import { checked, epoch, native } from "../runtime/bridge/bridge.js";
import { nextTask } from "../runtime/host/next_task.js";
import { rejectAll } from "../runtime/threads/keep_alive.js";

/** Half of the 16 ms between two frames, which leaves time for drawing. */
const kPieceLength = 8; // ms

let servedEpoch = -1;

/** Starts running the pending calls, including those that are added in the meantime. */
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
