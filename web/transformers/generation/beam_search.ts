// Beam search: several texts are continued at once, and those with the best sum of logarithms are kept.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { processed } from "./choose.js";
import type { GenerateOptions } from "./options.js";
import type { Settings } from "./settings.js";
import type { Steps } from "./steps.js";

const kWhere = "generate";

interface Ended {
  readonly row: readonly number[];
  readonly score: number;
}

// The texts of one input that have ended, the best ones.
class Endings {
  readonly ended: Ended[] = [];
  isDone = false;

  constructor(
    private readonly settings: Settings,
    private readonly given: number,
  ) {}

  add(row: readonly number[], sum: number, length: number): void {
    this.ended.push({ row, score: sum / length ** this.settings.lengthPenalty });
    this.ended.sort((a, b) => b.score - a.score);
    this.ended.splice(this.settings.beams);
  }

  // Whether no text that goes on can become better, if none becomes longer.
  close(best: number, tokens: number): void {
    const { beams, earlyStopping, lengthPenalty } = this.settings;
    if (this.isDone || this.ended.length < beams) return;
    const worst = (this.ended.at(-1) as Ended).score;
    this.isDone = earlyStopping || worst >= best / (tokens - this.given) ** lengthPenalty;
  }
}

/** Generates by beam search: each input has `beams` rows, one after the other. */
export async function searchBeams(
  steps: Steps,
  settings: Settings,
  options: GenerateOptions,
): Promise<eg.Tensor> {
  checkSearch(settings, options);
  const { beams, maxNewTokens } = settings;
  const given = steps.rows[0]?.length ?? 0;
  const inputs = Array.from(
    { length: steps.rows.length / beams },
    () => new Endings(settings, given),
  );
  // All rows of an input are the same at first, so one of them is continued.
  let sums: number[] = steps.rows.map((_, i) => (i % beams === 0 ? 0 : -1e9));
  let last: eg.Tensor | null = null;
  try {
    for (let i = 0; i < maxNewTokens; i++) {
      const candidates = await candidatesOf(steps, settings, last, sums, i);
      options.signal?.throwIfAborted();
      const chosen = candidates.flatMap((list, k) => {
        return next(list, inputs[k] as Endings, steps.rows, settings, given);
      });
      sums = chosen.map(({ sum }) => sum);
      steps.rows = chosen.map(({ row, token }) => [...(steps.rows[row] as number[]), token]);
      inputs.forEach((input, k) => {
        const best = Math.max(...(candidates[k] as Candidate[]).map(({ sum }) => sum));
        input.close(best, given + i + 1);
      });
      last?.dispose();
      last = eg.keep(steps.written(given + i));
      if (inputs.every(({ isDone }) => isDone)) break;
      steps.cache.selectRows(chosen.map(({ row }) => row));
    }
  } finally {
    last?.dispose();
  }
  inputs.forEach((input, k) => {
    if (input.isDone) return;
    steps.rows.slice(k * beams, (k + 1) * beams).forEach((row, j) => {
      input.add(row, sums[k * beams + j] as number, row.length - given);
    });
  });
  return resultOf(inputs, settings, steps);
}

function checkSearch({ doSample, sequences, beams }: Settings, options: GenerateOptions): void {
  const { streamer, stopStrings, stoppingCriteria, pastKeyValues } = options;
  const others = {
    doSample: doSample || null,
    streamer,
    stopStrings,
    stoppingCriteria,
    pastKeyValues,
  };
  const found = Object.entries(others).find(([, value]) => value != null);
  if (found !== undefined) {
    fail("InvalidArgument", kWhere, `numBeams: beam search cannot be combined with ${found[0]}.`);
  }
  if (sequences > beams) {
    fail(
      "InvalidArgument",
      kWhere,
      `numReturnSequences: at most as many texts as beams (${beams}).`,
    );
  }
}

interface Candidate {
  /** The row that is continued. */
  readonly row: number;
  readonly token: number;
  /** The sum of the logarithms of all its tokens. */
  readonly sum: number;
}

// The best continuations of each input: enough of them that `beams` go on even if others end.
async function candidatesOf(
  steps: Steps,
  settings: Settings,
  last: eg.Tensor | null,
  sums: readonly number[],
  index: number,
): Promise<Candidate[][]> {
  const { beams, ends } = settings;
  const inputs = sums.length / beams;
  const [values, places, words] = eg.noGrad(() =>
    eg.scope(() => {
      const logs = eg.logSoftmax(steps.scores(last, index), -1);
      const own = processed(logs, steps.rows, index, settings);
      const total = own.add(eg.tensor([...sums], { device: own.device }).unsqueeze(1));
      const size = own.shape[1] as number;
      const most = Math.min(Math.max(2, 1 + ends.size) * beams, beams * size);
      const [best, at] = total.reshape([inputs, beams * size]).topk(most, -1);
      return [eg.keep(best), eg.keep(at), size] as const;
    }),
  );
  try {
    const [scores, found] = [
      (await values.array()) as number[][],
      (await places.array()) as (number | bigint)[][],
    ];
    return found.map((list, k) =>
      list.map((place, j) => ({
        row: k * beams + Math.floor(Number(place) / words),
        token: Number(place) % words,
        sum: (scores[k] as number[])[j] as number,
      })),
    );
  } finally {
    values.dispose();
    places.dispose();
  }
}

// The continuations that go on; those that end are kept apart.
function next(
  candidates: readonly Candidate[],
  endings: Endings,
  rows: readonly (readonly number[])[],
  { beams, ends, fill }: Settings,
  given: number,
): Candidate[] {
  if (endings.isDone) {
    const [{ row }] = candidates as [Candidate];
    const first = row - (row % beams);
    return Array.from({ length: beams }, (_, j) => ({ row: first + j, token: fill, sum: 0 }));
  }
  const going: Candidate[] = [];
  candidates.forEach((candidate, rank) => {
    if (going.length === beams) return;
    if (!ends.has(candidate.token)) {
      going.push(candidate);
    } else if (rank < beams) {
      const row = rows[candidate.row] as readonly number[];
      endings.add([...row, candidate.token], candidate.sum, row.length + 1 - given);
    }
  });
  // A vocabulary of few tokens may have too few continuations.
  while (going.length < beams)
    going.push({ ...(going.at(-1) ?? (candidates[0] as Candidate)), sum: -1e9 });
  return going;
}

function resultOf(
  inputs: readonly Endings[],
  { sequences, fill }: Settings,
  steps: Steps,
): eg.Tensor {
  const best = inputs.flatMap(({ ended }) => ended.slice(0, sequences).map(({ row }) => row));
  const longest = Math.max(...best.map(({ length }) => length));
  steps.rows = best.map((row) => [...row, ...new Array<number>(longest - row.length).fill(fill)]);
  return steps.written();
}
