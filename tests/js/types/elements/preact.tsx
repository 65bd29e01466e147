/** @jsxImportSource preact */
// The elements of edgegrad/vis in Preact. tests/js/project/types.test.mjs only compiles this file.

import { createLog } from "edgegrad/vis";

const log = createLog();

export const charts = (
  <div>
    <eg-line-chart key="a" class="wide" heading="Loss" log={log} tags="loss" smoothing={0.6} />
    <eg-attention-map log={log} />
    {/* @ts-expect-error: a log is no graph */}
    <eg-tape-graph graph={log} />
    {/* @ts-expect-error: there is no such element */}
    <eg-pie-chart />
  </div>
);
