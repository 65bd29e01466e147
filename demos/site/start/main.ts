import { CodePanel } from "../shared/code/code_panel.js";
import { makeCopying } from "../shared/elements.js";
import { byId } from "../shared/frame.js";
import { whenSeen } from "../shared/visibility.js";
import example from "./example.js?raw";
import { spiral } from "./spiral.js";

const panel = new CodePanel(byId("program"), {
  code: example,
  label: "Program",
  showsChart: true,
  chartHeight: 96,
  canvas: byId<HTMLCanvasElement>("painted"),
});
panel.plane.showPoints(spiral(), null);
makeCopying(byId<HTMLButtonElement>("copy-install"), () => byId("install").textContent ?? "");
// The engine comes after the first picture of the page, and trains only what somebody may watch.
await whenSeen();
await panel.run();
