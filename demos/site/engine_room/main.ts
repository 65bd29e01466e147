import { LazyCodeEditor } from "../shared/code/lazy_code_editor.js";
import { hasWebGpu } from "../shared/device_picker.js";
import { byId } from "../shared/frame.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer, type TrainerLink } from "../shared/trainer_link.js";
import { GraphView } from "./graph_view.js";
import { LanesView } from "./lanes_view.js";
import { showDetails } from "./node_details.js";
import { Player } from "./player.js";
import { kPresets } from "./presets.js";
import type { Recording } from "./recording.js";
import { Timeline } from "./timeline.js";
import type { EngineRoom } from "./trainer.js";

const run = byId<HTMLButtonElement>("run");
const preset = byId<HTMLSelectElement>("preset");
const problem = byId("problem");
const graph = new GraphView(byId("graph"), describe);
const lanes = new LanesView(byId("lanes"), describe);
const player = new Player(
  {
    play: byId<HTMLButtonElement>("play"),
    slider: byId<HTMLInputElement>("time"),
    pace: byId<HTMLSelectElement>("pace"),
    clock: byId("clock"),
  },
  showMoment,
);
const editor = new LazyCodeEditor(byId("editor"), {
  code: kPresets[0]?.code ?? "",
  label: "The model, a JavaScript module that exports loss",
  onRun: () => void record(),
});

let link: TrainerLink<EngineRoom> | null = null;
let shown: { recording: Recording; timeline: Timeline } | null = null;
let running = 0;

function describe(node: number): void {
  if (shown === null) return;
  graph.mark(node);
  showDetails(byId("details-title"), byId("details"), shown.recording, shown.timeline, node);
}

function showMoment(time: number): void {
  if (shown === null) return;
  graph.show(shown.timeline, time);
  lanes.show(shown.timeline, shown.recording.nodes, time);
}

// The worker of the page; a new one is created after a visitor's endless loop was stopped.
function linked(): TrainerLink<EngineRoom> {
  link ??= linkTrainer<EngineRoom>(
    new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
  );
  return link;
}

async function record(): Promise<void> {
  const mine = ++running;
  problem.hidden = true;
  run.textContent = "Stop";
  try {
    const { trainer } = linked();
    const { code } = editor;
    const device = code.includes("webgpu") && (await hasWebGpu()) ? "webgpu" : "cpu";
    byId("runtime").textContent = runtimeText(await trainer.start(device), device);
    const recording = await trainer.record(code);
    if (mine === running) show(recording);
  } catch (error) {
    problem.textContent = (error as Error).message;
    problem.hidden = false;
  } finally {
    if (mine === running) run.textContent = "Run";
  }
}

function stop(): void {
  running++;
  link?.stop();
  link = null;
  run.textContent = "Run";
}

function show(recording: Recording): void {
  const timeline = new Timeline(recording);
  shown = { recording, timeline };
  graph.draw(recording);
  lanes.draw(timeline, recording.nodes);
  byId("together").hidden = recording.together;
  byId("count").textContent = `${recording.nodes.length} nodes`;
  player.load(timeline);
  describe(recording.roots[0] ?? 0);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
}

function choosePreset(): void {
  const chosen = kPresets[Number(preset.value)];
  if (chosen === undefined) return;
  editor.code = chosen.code;
  byId("about").textContent = chosen.about;
  stop();
  void record();
}

run.addEventListener("click", () => (run.textContent === "Stop" ? stop() : void record()));
preset.addEventListener("change", choosePreset);
byId("about").textContent = kPresets[0]?.about ?? "";
const canUseGpu = await hasWebGpu();
preset.append(
  ...kPresets.flatMap(({ title, needsGpu }, i) =>
    needsGpu && !canUseGpu ? [] : [new Option(title, String(i))],
  ),
);
choosePreset();
