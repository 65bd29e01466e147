import { chosenDevice, fillDevices } from "../shared/device_picker.js";
import { onFile } from "../shared/files.js";
import { byId, showError } from "../shared/frame.js";
import { newestWins } from "../shared/newest_wins.js";
import { errorText } from "../shared/printed.js";
import { runtimeText } from "../shared/runtime_text.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import { DrawingPad } from "./drawing_pad.js";
import { kFirstDigit } from "./finished/finished.js";
import type { ModelName } from "./models.mjs";
import { OwnDigits } from "./own_digits.js";
import { PredictionBars } from "./prediction_bars.js";
import { programOf } from "./program.js";
import type { DigitTrainer } from "./trainer.js";
import { percent, TrainingView } from "./training_view.js";

const { trainer } = linkTrainer<DigitTrainer>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const button = (id: string) => byId<HTMLButtonElement>(id);
const device = byId<HTMLSelectElement>("device");
const model = byId<HTMLSelectElement>("model");
const fileNote = byId("file-note");

const view = new TrainingView();
const bars = new PredictionBars(byId("prediction"));
let isReady = () => {};
const ready = new Promise<void>((resolve) => {
  isReady = resolve;
});
const predict = newestWins(
  async (image: Uint8Array | null) => {
    await ready;
    bars.show(image === null ? null : await trainer.predict(image));
  },
  (isBusy) => bars.setBusy(isBusy),
);
const pad = new DrawingPad(byId<HTMLCanvasElement>("pad"), () => {
  byId("truth").textContent = "";
  predict(pad.image());
});
const own = new OwnDigits(byId("slots"), (digit) => {
  button("keep").textContent = `Keep as ${digit}`;
});

let training: Promise<void> | null = null;
let hasLesson = false;

/** Stops the training, if it is running, after the current step. */
async function stopTraining(): Promise<void> {
  await trainer.stop();
  await training;
}

async function train(): Promise<void> {
  button("run").textContent = "Stop";
  showError(null);
  let steps = 0;
  try {
    steps = await trainer.train();
    view.stopped(steps);
  } finally {
    training = null;
    button("run").textContent = steps > 0 ? "Resume" : "Train";
  }
}

// Runs work that changes the model after training has stopped, and prevents anything else from starting meanwhile.
async function alone(work: () => Promise<void>): Promise<void> {
  const buttons = ["run", "anew", "load", "learn", "unlearn"].map(button);
  const controls = [...buttons, device, model];
  for (const control of controls) control.disabled = true;
  try {
    await stopTraining();
    await work();
  } finally {
    for (const control of controls) control.disabled = false;
    button("learn").disabled = !own.isComplete;
    button("unlearn").disabled = !hasLesson;
    predict(pad.image());
  }
}

// Resets the lesson, because the model is now another one.
function forgetLesson(): void {
  hasLesson = false;
  byId("lesson").textContent = "";
}

// Shows what is known of the chosen network before the engine is there.
async function showPast(): Promise<void> {
  view.showPast(await trainer.past(model.value as ModelName));
}

async function use(): Promise<void> {
  const chosen = chosenDevice(device);
  const { runtime, steps, pictures } = await trainer.use(model.value as ModelName, chosen);
  byId("runtime").textContent = runtimeText(runtime, chosen);
  view.stopped(steps);
  view.showPictures(pictures.values, pictures.count);
  forgetLesson();
  button("run").textContent = steps > 0 ? "Resume" : "Train";
}

pad.show(kFirstDigit);
byId("truth").textContent = "A test digit: draw your own over it.";
await Promise.all([fillDevices(device), showPast()]);
await trainer.watch(
  new URL("data/", document.baseURI).href,
  proxy({
    arrived: (share) => view.arrived(share),
    failed: showError,
    progress: (progress) => view.progress(progress),
    tested: (result, pictures, count) => {
      view.tested(result, pictures, count);
      predict(pad.image());
    },
    kept: (steps) => view.kept(steps),
  }),
);
await use();
isReady();
for (const id of ["run", "anew", "load"]) button(id).disabled = false;

offerToTakeHome(byId("take-home"), {
  name: () => `digits-${model.value}`,
  weights: () => trainer.weights(),
  onnx: () => trainer.onnx(),
  program: () => programOf(model.value as ModelName),
});

button("run").addEventListener("click", () => {
  if (training === null) training = train();
  else void stopTraining();
});
button("anew").addEventListener("click", () =>
  alone(async () => {
    await trainer.startAnew();
    view.restart();
    forgetLesson();
    button("run").textContent = "Train";
  }),
);
model.addEventListener("change", () =>
  alone(async () => {
    await showPast();
    await use();
  }),
);
device.addEventListener("change", () =>
  alone(() =>
    use().catch((error: unknown) => {
      showError(error);
      device.value = "cpu";
    }),
  ),
);

button("clear").addEventListener("click", () => pad.clear());
button("sample").addEventListener("click", async () => {
  const { images, labels } = await trainer.testDigit();
  pad.show(images);
  byId("truth").textContent = `Its label in MNIST is ${labels[0]}.`;
});

onFile(button("load"), byId<HTMLInputElement>("file"), (bytes, name) =>
  alone(async () => {
    try {
      await trainer.loadWeights(bytes);
      view.restart();
      forgetLesson();
      await trainer.test();
      fileNote.textContent = `The weights of ${name} were loaded.`;
    } catch (error) {
      const network = model.selectedOptions[0]?.textContent;
      fileNote.textContent = `${name} does not contain weights for the network ${network}, which was not changed. ${errorText(error)}`;
    }
  }),
);

button("keep").addEventListener("click", () => {
  const image = pad.image();
  if (image === null) return;
  own.keep(image);
  pad.clear();
  button("learn").disabled = !own.isComplete;
});
button("learn").addEventListener("click", () =>
  alone(async () => {
    byId("lesson").textContent = "Learning …";
    const { before, after, accuracyBefore, accuracyAfter } = await trainer.learn(own.digits());
    const rightBefore = own.judge(before);
    const right = own.judge(before, after);
    byId("lesson").textContent =
      `Of your ten drawings, ${rightBefore} were recognized before and ${right} are now. Of the test digits, ` +
      `${percent(accuracyBefore)} were recognized before and ${percent(accuracyAfter)} are now.`;
    hasLesson = true;
  }),
);
button("unlearn").addEventListener("click", () =>
  alone(async () => {
    await trainer.unlearn();
    hasLesson = false;
    byId("lesson").textContent = "The lesson was undone.";
  }),
);
