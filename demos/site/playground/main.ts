import { CodePanel } from "../shared/code/code_panel.js";
import { chosenDevice, fillDevices } from "../shared/device_picker.js";
import { byId, showError } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { PlaneView, type Points } from "../shared/plane_view.js";
import { runtimeText } from "../shared/runtime_text.js";
import { stateOfLink } from "../shared/take_home/state_link.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import { kFinished } from "./finished/finished.js";
import { kOutput, NetworkView } from "./network_view.js";
import { kOwnCode } from "./own_code.js";
import { programOf } from "./program.js";
import {
  kActivations,
  kDatasets,
  kFeatureNames,
  kFirstSettings,
  kGrid,
  kPenalties,
  type Settings,
  type Tuning,
} from "./settings.js";
import type { Frame, Given, PlaygroundTrainer } from "./trainer.js";

// The digits of a weight in a link.
const kLinkDigits = 5;

const { trainer } = linkTrainer<PlaygroundTrainer>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const select = (id: string) => byId<HTMLSelectElement>(id);
const button = (id: string) => byId<HTMLButtonElement>(id);
const plane = new PlaneView(byId<HTMLCanvasElement>("plane"));
const showsTests = byId<HTMLInputElement>("show-tests");
const chart = new LineChart(byId("loss"), {
  label: "Loss by step",
  x: "step",
  series: [
    { label: "training", color: "series-1" },
    { label: "test", color: "series-2" },
  ],
});

let { features, hidden }: Pick<Settings, "features" | "hidden"> = kFirstSettings;
let points: { train: Points; test: Points } | null = null;
let latest: Frame | null = null;
let lookedAt = kOutput;
let training: Promise<void> | null = null;

const network = new NetworkView(byId("network"), {
  toggle: (feature) => {
    const others = features.filter((name) => name !== feature);
    const isNew = others.length === features.length;
    // A network needs at least one feature.
    if (!isNew && others.length === 0) return;
    features = kFeatureNames.filter((name) => (name === feature ? isNew : features.includes(name)));
    void setUp();
  },
  setHidden: (sizes) => {
    hidden = sizes;
    void setUp();
  },
  lookAt: (look) => {
    lookedAt = look;
    byId("plane-title").textContent = look.title;
    showPlane();
  },
});

function showPlane(): void {
  const { unit, values } = lookedAt;
  const size = kGrid * kGrid;
  const planes = latest?.planes;
  const index = unit ?? (planes?.length ?? 0) / size - 1;
  const shown = values ?? planes?.subarray(index * size, (index + 1) * size);
  if (shown !== undefined && shown.length > 0) plane.showValues(shown);
}

function showPoints(): void {
  if (points !== null) plane.showPoints(points.train, showsTests.checked ? points.test : null);
}

function show(frame: Frame): void {
  latest = frame;
  network.show(frame.planes, frame.weights);
  showPlane();
  byId("steps").textContent = frame.steps.toLocaleString("en");
  byId("accuracy").textContent = `${(100 * frame.testAccuracy).toFixed(0)} %`;
  chart.push(frame.steps, frame.loss, frame.testLoss);
}

function tuning(): Tuning {
  return {
    learningRate: Number(select("learning-rate").value),
    penalty: select("penalty").value as Tuning["penalty"],
    penaltyRate: Number(select("penalty-rate").value),
  };
}

function settings(): Settings {
  return {
    ...tuning(),
    dataset: select("dataset").value as Settings["dataset"],
    noise: Number(byId<HTMLInputElement>("noise").value),
    features,
    hidden,
    activation: select("activation").value as Settings["activation"],
    device: chosenDevice(select("device")),
  };
}

async function stop(): Promise<void> {
  await trainer.stop();
  await training;
}

function train(): void {
  button("run").textContent = "Stop";
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const showNext = async (frame: Frame) => {
    await nextFrame();
    show(frame);
  };
  training = trainer.run(proxy(showNext)).finally(() => {
    training = null;
    button("run").textContent = "Train";
  });
}

// Runs one after the other, because a visitor may press + faster than networks are created.
let setUps = Promise.resolve();

function setUp(newPoints = false, given?: Given): Promise<void> {
  setUps = setUps.then(() => makeNetwork(newPoints, given)).catch(showError);
  return setUps;
}

/** Creates the chosen network, and continues training if the previous one was training. */
async function makeNetwork(newPoints: boolean, given?: Given): Promise<void> {
  const wasTraining = training !== null;
  await stop();
  const chosen = settings();
  network.build(chosen.features, chosen.hidden);
  // The chart of given parameters is there already.
  if (given === undefined) chart.clear();
  const { runtime, train: trainPoints, test } = await trainer.setUp(chosen, newPoints, given);
  points = { train: trainPoints, test };
  byId("runtime").textContent = runtimeText(runtime, chosen.device);
  showPoints();
  show(await trainer.frame());
  if (wasTraining) train();
}

/** What a link holds. */
interface Linked extends Given {
  readonly settings: Settings;
}

function showSettings(chosen: Settings): void {
  ({ features, hidden } = chosen);
  const values = {
    "learning-rate": chosen.learningRate,
    penalty: chosen.penalty,
    "penalty-rate": chosen.penaltyRate,
    dataset: chosen.dataset,
    activation: chosen.activation,
  };
  for (const [id, value] of Object.entries(values)) select(id).value = String(value);
  byId<HTMLInputElement>("noise").value = String(chosen.noise);
}

function fill(id: string, names: readonly string[]): void {
  select(id).replaceChildren(...names.map((name) => new Option(name)));
}

fill("dataset", kDatasets);
fill("activation", kActivations);
fill("penalty", kPenalties);
new CodePanel(byId("code"), { code: kOwnCode, label: "Your code" });
await fillDevices(select("device"));
const linked = stateOfLink() as Linked | null;
if (linked === null) for (const point of kFinished.points) chart.push(...point);
else showSettings(linked.settings);
await setUp(false, linked ?? kFinished);
for (const id of ["run", "step", "reset", "new-data"]) button(id).disabled = false;

offerToTakeHome(byId("take-home"), {
  name: () => "playground",
  state: async (): Promise<Linked> => {
    const parameters = (await trainer.parameters()).map((row) =>
      row.map((value) => Number(value.toPrecision(kLinkDigits))),
    );
    return { settings: settings(), steps: latest?.steps ?? 0, parameters };
  },
  weights: async () => (await trainer.files()).weights,
  onnx: async () => (await trainer.files()).onnx,
  program: () => programOf(settings()),
});

button("run").addEventListener("click", () => {
  if (training === null) train();
  else void stop();
});
button("step").addEventListener("click", async () => {
  await stop();
  show(await trainer.step());
});
button("reset").addEventListener("click", () => setUp());
button("new-data").addEventListener("click", () => setUp(true));
showsTests.addEventListener("change", showPoints);
for (const id of ["dataset", "noise"]) byId(id).addEventListener("change", () => setUp(true));
for (const id of ["activation", "device"]) select(id).addEventListener("change", () => setUp());
for (const id of ["learning-rate", "penalty", "penalty-rate"]) {
  select(id).addEventListener("change", () => trainer.tune(tuning()));
}
