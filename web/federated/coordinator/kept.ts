// Which rounds' weights are kept: the last ones, and the best.

import type { KeptRound } from "../record.js";
import type { KeepBest, ReadServeOptions } from "./options.js";

/** Returns the kept rounds with one more. */
export function keptWith(
  kept: readonly KeptRound[],
  next: KeptRound,
  { keepRounds, keepBest }: Pick<ReadServeOptions, "keepRounds" | "keepBest">,
): KeptRound[] {
  const all = [...kept, next];
  const best = keepBest === undefined ? null : bestOf(all, keepBest);
  const stay = all.filter((checkpoint, i) => checkpoint === best || i >= all.length - keepRounds);
  return stay.map((checkpoint) => ({ ...checkpoint, isBest: checkpoint === best }));
}

/** The round with the best value of a metric, the first of them; null if none has that metric. */
function bestOf(all: readonly KeptRound[], { metric, mode = "min" }: KeepBest): KeptRound | null {
  const sign = mode === "min" ? 1 : -1;
  const scoreOf = ({ summary: { metrics } }: KeptRound) =>
    Object.hasOwn(metrics, metric) ? sign * (metrics[metric] as number) : null;
  const found = all.filter((checkpoint) => scoreOf(checkpoint) !== null);
  return found.reduce<KeptRound | null>(
    (best, checkpoint) =>
      best === null || Number(scoreOf(checkpoint)) < Number(scoreOf(best)) ? checkpoint : best,
    null,
  );
}
