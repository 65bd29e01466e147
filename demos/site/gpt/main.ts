import type { Size } from "../../char_model/model.mjs";
import { chosenDevice, fillDevices } from "../shared/device_picker.js";
import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { runtimeText } from "../shared/runtime_text.js";
import { SampleList } from "../shared/samples.js";
import { stateOfLink } from "../shared/take_home/state_link.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import type { Point, Report } from "./messages.js";
import type { GptTrainer } from "./trainer.js";

const { trainer } = linkTrainer<GptTrainer>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const run = byId<HTMLButtonElement>("run");
const write = byId<HTMLButtonElement>("write");
const anew = byId<HTMLButtonElement>("anew");
const device = byId<HTMLSelectElement>("device");
const size = byId<HTMLSelectElement>("size");
const prompt = byId<HTMLInputElement>("prompt");
const temperature = byId<HTMLInputElement>("temperature");
const samples = new SampleList(byId("samples"));
const chart = new LineChart(byId("loss"), {
  label: "Loss by step",
  x: "step",
  series: [
    { label: "train", color: "series-1" },
    { label: "held out", color: "series-2" },
  ],
});

// What the page says of the model that it has.
const kShipped = byId("status").textContent ?? "";

// The state of the worker's model: none yet, idle, training, or generating text.
let state: "none" | "resting" | "training" | "writing" = "none";

// Each of the two buttons stops what it has started.
function setState(next: typeof state): void {
  state = next;
  const isBusy = state === "training" || state === "writing";
  run.textContent = state === "training" ? "Stop" : "Train";
  write.textContent = state === "writing" ? "Stop" : "Write";
  for (const control of [anew, size, device]) control.disabled = isBusy;
  run.disabled = state === "writing";
  write.disabled = false;
}

async function start(): Promise<void> {
  if (state !== "none") return;
  byId("status").textContent = "Starting the engine and reading the book…";
  const chosen = chosenDevice(device);
  const { runtime, steps, parameters } = await trainer.start(chosenSize(), chosen);
  byId("runtime").textContent = runtimeText(runtime, chosen);
  byId("parameters").textContent = parameters.toLocaleString("en");
  byId("step").textContent = steps.toLocaleString("en");
  byId("status").textContent = "";
  setState("resting");
}

// What the page says of a model that begins anew; the trained small one would be more than a page should load.
const kUntrained = {
  tiny: "Random weights.",
  small: "Random weights: trained ones of this size would be a download of 1.6 MB.",
};

async function whileBusy(next: "training" | "writing", work: () => Promise<void>): Promise<void> {
  run.disabled = true;
  write.disabled = true;
  try {
    await start();
    setState(next);
    await work();
  } finally {
    setState(state === "none" ? "none" : "resting");
  }
}

function show(report: Report): void {
  byId("step").textContent = report.step.toLocaleString("en");
  for (const point of report.points) showPoint(point);
  for (const { step, begins, text } of report.written) {
    samples.add({ title: `from step ${step.toLocaleString("en")}`, begins, text });
  }
  if (report.tokensPerSecond !== null) {
    byId("rate").textContent = Math.round(report.tokensPerSecond).toLocaleString("en");
  }
  if (report.keptAt !== null) byId("status").textContent = keptText(report.keptAt);
}

function keptText(keptAt: number | "never"): string {
  if (keptAt === "never") return "This browser stores no files for pages: a reload starts over.";
  const time = new Date(keptAt).toLocaleTimeString();
  return `Saved in this browser at ${time}: after a reload, training resumes from there.`;
}

function showPoint({ step, loss, heldOut }: Point): void {
  chart.push(step, loss, heldOut);
  byId("train-loss").textContent = loss.toFixed(3);
  byId("held-out").textContent = heldOut.toFixed(3);
}

// Shows what is known of the model of the chosen size, without starting the engine.
async function showPast(): Promise<void> {
  setState("none");
  chart.clear();
  samples.clear();
  for (const id of ["train-loss", "held-out", "rate", "parameters"]) byId(id).textContent = "–";
  const { origin, points, sample, parameters } = await trainer.past(chosenSize());
  const step = points.at(-1)?.step ?? 0;
  for (const point of points) showPoint(point);
  const steps = step.toLocaleString("en");
  byId("step").textContent = steps;
  byId("status").textContent = {
    kept: `Saved on an earlier visit after about ${steps} steps: “Train” resumes from there.`,
    shipped: kShipped,
    new: `${kUntrained[chosenSize()]} Press Train, and read what it writes meanwhile.`,
  }[origin];
  if (parameters !== null) byId("parameters").textContent = parameters.toLocaleString("en");
  if (sample !== null) samples.add({ title: `from step ${steps}`, begins: true, text: sample });
}

function chosenSize(): Size {
  return size.value === "small" ? "small" : "tiny";
}

run.addEventListener("click", () => {
  if (state === "training") return trainer.stop();
  return whileBusy("training", () => trainer.train(proxy(show)));
});
anew.addEventListener("click", async () => {
  await trainer.forget(chosenSize());
  await showPast();
});
size.addEventListener("change", showPast);
device.addEventListener("change", () => setState("none"));
temperature.addEventListener("input", () => {
  byId("temperature-value").textContent = Number(temperature.value).toFixed(1);
  return trainer.setTemperature(Number(temperature.value));
});
byId("writing").addEventListener("submit", (event) => {
  event.preventDefault();
  if (state === "writing") return trainer.stop();
  const begin = () => trainer.write(prompt.value, proxy(show));
  // During a training the worker writes between two steps.
  return state === "training" ? begin() : whileBusy("writing", begin);
});

/** What a link holds. */
interface Linked {
  readonly size: Size;
  readonly prompt: string;
  readonly temperature: string;
}

async function idle<T>(work: () => Promise<T>): Promise<T> {
  if (state === "training" || state === "writing") await trainer.stop();
  await start();
  return work();
}

offerToTakeHome(byId("take-home"), {
  name: () => `gpt-${chosenSize()}`,
  state: async (): Promise<Linked> => ({
    size: chosenSize(),
    prompt: prompt.value,
    temperature: temperature.value,
  }),
  weights: () => idle(() => trainer.weights()),
  onnx: () => idle(() => trainer.onnx()),
});

const linked = stateOfLink() as Linked | null;
if (linked !== null) {
  size.value = linked.size;
  prompt.value = linked.prompt;
  temperature.value = linked.temperature;
  temperature.dispatchEvent(new Event("input"));
}
for (const id of ["run", "anew", "write"]) byId<HTMLButtonElement>(id).disabled = false;
await fillDevices(device);
await showPast();
