/** @jsxImportSource solid-js */
// The elements of edgegrad/vis in Solid. tests/js/project/types.test.mjs only compiles this file.

import { createLog } from "edgegrad/vis";

const log = createLog();

export const charts = (
  <div>
    <eg-line-chart class="wide" heading="Loss" log={log} tags="loss" smoothing={0.6} />
    <eg-projector log={log} ref={(element) => element.focus()} />
    {/* @ts-expect-error: a log is no graph */}
    <eg-tape-graph graph={log} />
    {/* @ts-expect-error: there is no such element */}
    <eg-pie-chart />
  </div>
);
