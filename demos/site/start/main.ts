import { byId, showError } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer, proxy, type TrainerLink } from "../shared/trainer_link.js";
import { makeEditor } from "./editor.js";
import example from "./example.js?raw";
import type { Progress, Runner } from "./runner.js";

const run = byId<HTMLButtonElement>("run");
const output = byId<HTMLTextAreaElement>("output");
const chart = new LineChart(byId("chart"), {
  label: "What plot() was told, by call",
  x: "call",
  series: [{ label: "value", color: "series-1" }],
  log: true,
});
const editor = makeEditor(byId("editor"), example, "Program; Control-Enter runs it", start);

// The worker that runs a program, while one runs.
let running: TrainerLink<Runner> | null = null;
let calls = 0;

run.addEventListener("click", () => (running === null ? start() : stop()));
byId("reset").addEventListener("click", () => {
  editor.setText(example);
  start();
});
start();

async function start(): Promise<void> {
  stop();
  clear();
  const link = linkTrainer<Runner>(
    new Worker(new URL("./runner.ts", import.meta.url), { type: "module" }),
  );
  setRunning(link);
  try {
    const runtime = await link.trainer.run(editor.text(), proxy(show));
    byId("runtime").textContent = runtimeText(runtime, "cpu");
  } catch (error) {
    showError(error);
  }
  if (running === link) stop();
}

function stop(): void {
  running?.stop();
  setRunning(null);
}

function setRunning(link: TrainerLink<Runner> | null): void {
  running = link;
  run.textContent = link === null ? "Run" : "Stop";
}

function clear(): void {
  showError(null);
  output.value = "";
  chart.clear();
  calls = 0;
}

function show({ lines, points }: Progress): void {
  for (const point of points) chart.push(++calls, point);
  if (lines.length === 0) return;
  output.value += `${lines.join("\n")}\n`;
  output.scrollTop = output.scrollHeight;
}
