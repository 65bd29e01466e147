// All rows of `npm run pack:check`, in the order of its table.
//
// A row is { id, group, title, version, run }: `run` throws if something does not work; `version` returns that of the tool. `quick` rows are
// part of npm run test:all. `refused` is { reason, error } for a combination that is known not to work: the explanation, and the error that
// is expected instead.

import { kBrowserRows } from "./browsers.mjs";
import { kBundlerRows } from "./bundlers.mjs";
import { kDemoRows } from "./demos.mjs";
import { kEdgeRows } from "./edge.mjs";
import { kFrameworkRows } from "./frameworks.mjs";
import { kNextRows } from "./next.mjs";
import { kNodeRows } from "./node.mjs";
import { kRunnerRows } from "./runners.mjs";
import { kSideEffectRows } from "./side_effects.mjs";
import { kTarballRows } from "./tarball.mjs";
import { kTemplateRows } from "./templates.mjs";
import { kTypeRows } from "./types.mjs";

export const kRows = [
  ...kNodeRows,
  ...kEdgeRows,
  ...kTypeRows,
  ...kBundlerRows,
  ...kSideEffectRows,
  ...kFrameworkRows,
  ...kNextRows,
  ...kRunnerRows,
  ...kBrowserRows,
  ...kDemoRows,
  ...kTemplateRows,
  ...kTarballRows,
];
