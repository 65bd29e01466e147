import { CodePanel } from "../shared/code_panel.js";
import { byId } from "../shared/frame.js";
import { visitorIsHereOrReads } from "../shared/visitor.js";
import example from "./example.js?raw";

const panel = new CodePanel(byId("program"), {
  code: example,
  label: "Program",
  log: true,
  showsChart: true,
});
// A page that is only loaded needs no training.
await visitorIsHereOrReads();
await panel.run();
