// The elements of edgegrad/vis as a page finds and makes them. tests/js/project/types.test.mjs only compiles this file.

import { createLog, type StepProfile, type TapeGraph } from "edgegrad/vis";

declare const profile: StepProfile;
declare const graph: TapeGraph;

const chart = document.querySelector("eg-line-chart");
if (chart !== null) chart.log = createLog();
const panel = document.createElement("eg-profile");
panel.profile = structuredClone({ events: profile.events, time: profile.time });
export const time: number | undefined = panel.profile?.time;
document.createElement("eg-tape-graph").graph = graph;
document.body.append(panel);
panel.redraw();
// @ts-expect-error: a profile is no log
document.createElement("eg-histogram").log = profile;
