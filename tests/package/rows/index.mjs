// All rows of `npm run pack:check`, in the order of its table.
//
// A row is { id, group, title, version, run }: `run` throws where something does not work; `version` is that of the tool.
// `quick` rows are those of npm run test:all. `refused` is { reason, error } where it is known not to work: why, and what must come instead.

import { kBrowserRows } from "./browsers.mjs";
import { kBundlerRows } from "./bundlers.mjs";
import { kDemoRows } from "./demos.mjs";
import { kNextRows } from "./next.mjs";
import { kNodeRows } from "./node.mjs";
import { kRunnerRows } from "./runners.mjs";
import { kSideEffectRows } from "./side_effects.mjs";
import { kTarballRows } from "./tarball.mjs";
import { kTypeRows } from "./types.mjs";

export const kRows = [
  ...kNodeRows,
  ...kTypeRows,
  ...kBundlerRows,
  ...kSideEffectRows,
  ...kNextRows,
  ...kRunnerRows,
  ...kBrowserRows,
  ...kDemoRows,
  ...kTarballRows,
];
