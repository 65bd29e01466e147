import { byId } from "../shared/frame.js";
import { keepForReload, keptForReload } from "../shared/kept.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import type { Hogwild, Progress, Result } from "./comparison.js";
import { type FinishedRun, kFinished } from "./finished/finished.js";
import { RunsChart } from "./runs_chart.js";

const kRuns = [
  { workers: 1, label: "1 worker", color: "series-1" },
  { workers: 2, label: "2 workers", color: "series-2" },
  { workers: 4, label: "4 workers", color: "series-3" },
];

const { trainer } = linkTrainer<Hogwild>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const run = byId<HTMLButtonElement>("run");
const steps = byId<HTMLSelectElement>("steps");
const progress = byId<HTMLProgressElement>("progress");
const choices = [...document.querySelectorAll<HTMLInputElement>("input[name=workers]")];
const chart = new RunsChart(byId("loss"), kRuns);
let started: Promise<void> | null = null;
const kKept = "hogwild";
let state: "resting" | "running" | "stopping" = "resting";

async function start(): Promise<void> {
  byId("status").textContent = "Loading the digits…";
  const folder = new URL("../digits/data/", document.baseURI).href;
  const runtime = await trainer.start(
    folder,
    proxy((share) => {
      progress.value = share;
    }),
  );
  byId("runtime").textContent = crossOriginIsolated
    ? `${runtime.variant} SIMD, a thread for each worker`
    : runtimeText(runtime, "cpu");
}

async function compare(): Promise<void> {
  state = "running";
  run.textContent = "Stop";
  try {
    started ??= start();
    await started;
    chart.clear();
    byId("results").replaceChildren();
    await runAll();
    byId("status").textContent = "";
  } finally {
    state = "resting";
    run.textContent = "Compare";
  }
}

async function runAll(): Promise<void> {
  const total = Number(steps.value);
  const wanted = choices.filter(({ checked, disabled }) => checked && !disabled);
  let first: Result | null = null;
  const runs: FinishedRun[] = [];
  for (const { value } of wanted) {
    if (state === "stopping") return;
    const points: [seconds: number, loss: number][] = [];
    const index = kRuns.findIndex(({ workers }) => workers === Number(value));
    const { workers, label } = kRuns[index] as (typeof kRuns)[number];
    byId("status").textContent = `${label}…`;
    const show = proxy(({ seconds, steps: taken, loss }: Progress) => {
      progress.value = taken / total;
      chart.push(index, seconds, loss);
      points.push([seconds, loss]);
    });
    const result = await trainer.run(workers, total, show);
    first ??= result;
    runs.push({ workers, result, points });
    keepForReload(kKept, runs);
    showResult(index, result, result.samplesPerSecond / first.samplesPerSecond);
  }
}

function showResult(index: number, { samplesPerSecond, accuracy }: Result, speedUp: number): void {
  const { workers, color } = kRuns[index] as (typeof kRuns)[number];
  const row = document.createElement("tr");
  const cells = [
    String(workers),
    Math.round(samplesPerSecond).toLocaleString("en"),
    `${speedUp.toFixed(2)}×`,
    `${(100 * accuracy).toFixed(1)} %`,
  ].map((text) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    return cell;
  });
  const mark = document.createElement("i");
  mark.style.background = `var(--${color})`;
  cells[0]?.prepend(mark);
  row.append(...cells);
  byId("results").append(row);
}

// The last comparison of this tab, or else one that a program has recorded.
function showFinished(): void {
  const kept = keptForReload<FinishedRun[]>(kKept);
  const runs = kept ?? kFinished.runs;
  const [first] = runs;
  for (const { workers, result, points } of runs) {
    const index = kRuns.findIndex((run) => run.workers === workers);
    for (const [seconds, loss] of points) chart.push(index, seconds, loss);
    const before = first?.result ?? result;
    showResult(index, result, result.samplesPerSecond / before.samplesPerSecond);
  }
  progress.value = 1;
  byId("status").textContent = kept === null ? recordedText() : "Your last comparison.";
}

function recordedText(): string {
  const { cores, isBusy } = kFinished;
  const others = isBusy
    ? ", which other programs were using too: the losses are right, but more workers gained less than they could"
    : "";
  return `Recorded on a machine with ${cores} cores${others}. Press Compare to measure this one.`;
}

run.addEventListener("click", () => {
  if (state === "resting") return compare();
  state = "stopping";
  return trainer.stop();
});

const cores = navigator.hardwareConcurrency;
byId("cores").textContent =
  `This machine has ${cores} ${cores === 1 ? "core" : "cores"}: more workers than that bring no gain, and other programs on this machine use the cores too.`;
if (!crossOriginIsolated) {
  byId("isolation").hidden = false;
  for (const choice of choices.slice(1)) {
    choice.checked = false;
    choice.disabled = true;
  }
}
showFinished();
run.disabled = false;
