// The elements of edgegrad/vis in templates of Vue. tests/js/project/types.test.mjs only compiles this file.

import { createLog, type RunLog } from "edgegrad/vis";
import type { GlobalComponents } from "vue";

type Props<Name extends keyof GlobalComponents> = InstanceType<GlobalComponents[Name]>["$props"];

const log: RunLog = createLog();
export const lines: Props<"eg-line-chart"> = {
  log,
  heading: "Loss",
  smoothing: 0.6,
  class: "wide",
};
export const graph: Props<"eg-tape-graph"> = { graph: null };
// @ts-expect-error: a log is no graph
export const wrong: Props<"eg-tape-graph"> = { graph: log };
