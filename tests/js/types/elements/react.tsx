/** @jsxImportSource react */
// The elements of edgegrad/vis in React. tests/js/project/types.test.mjs compiles this file with the types of React 19 and 18.

import { createLog, type LogElement, type ModuleSummary } from "edgegrad/vis";
import { createRef } from "react";

declare const summary: ModuleSummary;
const log = createLog();
const ref = createRef<HTMLElement & LogElement>();

export const charts = (
  <div>
    <eg-line-chart key="a" className="wide" heading="Loss" log={log} tags="loss" smoothing={0.6} />
    <eg-line-chart log={null} scale="log" ref={ref} />
    <eg-histogram log={log} run="first" tag="weights" />
    <eg-summary-table summary={summary} />
    {/* @ts-expect-error: a summary is no log */}
    <eg-histogram log={summary} />
    {/* @ts-expect-error: there is no such attribute */}
    <eg-profile log={log} />
    {/* @ts-expect-error: there is no such element */}
    <eg-pie-chart />
  </div>
);
