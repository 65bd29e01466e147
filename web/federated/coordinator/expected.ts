// What an update of the open round has to be.

import type { RunRecord } from "../record.js";
import type { Expected } from "../update/decode.js";
import { normOf, pick, type State, specOf } from "../update/state.js";
import type { ReadServeOptions } from "./options.js";

const kUsualNorm = 100;
const kUsualSamples = 1e9;

/** Returns what an update must be that a client has trained from these weights, those of a revision. */
export function expectedOf(
  { names, limits, compression }: ReadServeOptions,
  { round, fragment }: RunRecord,
  weights: State,
  revision: string,
): Expected {
  const global = fragment === undefined ? weights : pick(weights, fragment.keys);
  return {
    run: names.run,
    round,
    revision,
    spec: specOf(global),
    global,
    compression,
    mostSamples: limits.samples ?? kUsualSamples,
    mostNorm: limits.norm ?? kUsualNorm * Math.max(1, normOf(global)),
  };
}
