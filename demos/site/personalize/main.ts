import { onFile } from "../shared/files.js";
import { byId } from "../shared/frame.js";
import { lessonText, showLesson, type Words } from "../shared/last_layer/lesson.js";
import { PredictionList } from "../shared/last_layer/prediction_list.js";
import { Camera } from "../shared/media/camera.js";
import { newestWins } from "../shared/newest_wins.js";
import { ExampleClasses, kPictures, type Shown } from "../shared/pictures/classes.js";
import { pixelsOf } from "../shared/pictures/pixels.js";
import { attempt, showProblem } from "../shared/problem.js";
import { runtimeText } from "../shared/runtime_text.js";
import { stateOfLink } from "../shared/take_home/state_link.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer } from "../shared/trainer_link.js";
import { watchVisibility } from "../shared/visibility.js";
import measured from "./backbone/measured.json";
import { kSide } from "./backbone/model.mjs";
import { anyThing, drawThing, kThings } from "./drawn_things.js";
import type { Personalizer } from "./trainer.js";

const kPicturesAtOnce = 10;
// Between two pictures of the camera, so that things can be turned.
const kPictureMs = 200;
const kWords: Words = {
  examples: "pictures",
  things: "things",
  tooFew: "Four or more pictures of each would show how well.",
  tested: "pictures",
};

const { trainer } = linkTrainer<Personalizer>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const video = byId<HTMLVideoElement>("video");
const shown = byId<HTMLCanvasElement>("shown");
const camera = new Camera(video, "You can add pictures from files instead.");
const prediction = new PredictionList(byId("prediction"));
const classes = new ExampleClasses(byId("classes"), {
  kind: kPictures,
  making: {
    label: `Take ${kPicturesAtOnce} pictures`,
    make: (add) => attempt(() => takeInto(add)),
  },
  changed: () => {},
  failed: showProblem,
});
let hasLearned = false;
// Whether the things are those that the page draws.
let isExample = false;
let latest: ImageBitmap | null = null;

const predict = newestWins(
  async (picture: ImageBitmap | HTMLVideoElement) => {
    const shares = await trainer.predict(pixelsOf(picture, kSide, kSide));
    if (shares === null) return;
    const { name, share } = prediction.show(shares);
    // A camera shows too many pictures to read each out.
    byId("verdict").textContent = camera.isOn ? "" : `${name}, ${(100 * share).toFixed(0)} % sure`;
  },
  () => {},
);

async function toggleCamera(): Promise<void> {
  if (camera.isOn) camera.stop();
  else {
    if (isExample) beginOwn();
    byId("status").textContent = "Waiting for the camera …";
    await camera.start(showCamera);
    byId("status").textContent = hasLearned
      ? ""
      : "Hold a thing before the camera, take pictures of it, and turn it meanwhile.";
    requestAnimationFrame(watchCamera);
  }
  showCamera();
}

function showCamera(): void {
  byId("camera").textContent = camera.isOn ? "Stop the camera" : "Use the camera";
  shown.hidden = camera.isOn;
  byId("another").hidden = true;
}

// Browsers do not call it while the page is hidden.
function watchCamera(): void {
  if (!camera.isOn) return;
  if (hasLearned) predict(video);
  requestAnimationFrame(watchCamera);
}

async function takeInto(add: (example: Shown) => void): Promise<void> {
  if (!camera.isOn) await toggleCamera();
  for (let i = 0; i < kPicturesAtOnce && camera.isOn; i++) {
    const [width, height] = [video.videoWidth, video.videoHeight];
    const side = Math.min(width, height);
    const [left, top] = [(width - side) / 2, (height - side) / 2];
    add({ picture: await createImageBitmap(video, left, top, side, side) });
    await new Promise((turn) => setTimeout(turn, kPictureMs));
  }
}

function learn(): Promise<void> {
  const { names, examples, labels } = classes.lesson;
  return showLesson(async () => {
    const learned = await trainer.learn({
      names,
      examples: examples.map(({ picture }) => pixelsOf(picture, kSide, kSide)),
      labels,
    });
    begin(names);
    if (latest !== null && !camera.isOn) predict(latest);
    return lessonText(learned, examples.length, names.length, kWords);
  });
}

function begin(names: readonly string[]): void {
  hasLearned = true;
  prediction.begin(names);
  byId<HTMLButtonElement>("try").disabled = false;
}

// Things that the page draws, with a picture to recognize.
async function drawExample(): Promise<void> {
  if (camera.isOn) await toggleCamera();
  classes.clear();
  isExample = true;
  for (const name of Object.keys(kThings)) {
    const drawn = Array.from({ length: kPicturesAtOnce }, async () => ({
      picture: await drawThing(name),
    }));
    classes.add(name, await Promise.all(drawn));
  }
  await showAnother();
  byId("another").hidden = false;
}

async function showExample(): Promise<void> {
  hasLearned = false;
  await drawExample();
  await learn();
}

// Things without pictures, for those of the visitor.
function beginOwn(names: readonly string[] = ["thing 1", "thing 2"]): void {
  isExample = false;
  hasLearned = false;
  latest = null;
  classes.clear();
  for (const name of names) classes.add(name);
  prediction.begin([]);
  for (const id of ["verdict", "learned"]) byId(id).textContent = "";
  byId<HTMLButtonElement>("try").disabled = true;
  shown.getContext("2d")?.clearRect(0, 0, shown.width, shown.height);
  byId("another").hidden = true;
  byId("status").textContent = "Add pictures of two or more things, and press Learn.";
}

async function showAnother(): Promise<void> {
  recognize(await drawThing(anyThing()));
}

function recognize(picture: ImageBitmap): void {
  if (camera.isOn) {
    camera.stop();
    showCamera();
  }
  const { width, height } = shown;
  const pixels = new ImageData(pixelsOf(picture, width, height), width, height);
  shown.getContext("2d")?.putImageData(pixels, 0, 0);
  latest = picture;
  if (hasLearned) predict(picture);
}

async function start(): Promise<void> {
  byId("status").textContent = "Starting the engine …";
  const linked = stateOfLink() as Linked | null;
  const [runtime] = await Promise.all([trainer.start(), linked === null ? drawExample() : null]);
  byId("runtime").textContent = runtimeText(runtime, "cpu");
  byId("status").textContent = "";
  if (linked === null) await learn();
  else await open(linked.head);
  for (const id of ["camera", "own", "example", "another", "add-class", "learn", "open"]) {
    byId<HTMLButtonElement>(id).disabled = false;
  }
}

// What was learned before, here or by whoever has sent a link.
async function open(head: Uint8Array): Promise<void> {
  const names = await trainer.open(head);
  beginOwn(names);
  begin(names);
  byId("learned").textContent = `It knows ${names.join(", ")}.`;
  byId("status").textContent = "Use the camera, or try a picture.";
}

// What the program that trained the backbone has measured.
function tellMeasured(): void {
  const { accuracy, kinds, pictures, testPictures } = measured;
  const share = (name: keyof typeof kinds) =>
    `the ${name} (one of ${kinds[name]}) in ${(100 * accuracy[name]).toFixed(0)} %`;
  byId("measured").textContent =
    `After ${pictures.toLocaleString("en")} drawings it recognizes, in ${testPictures} new ones, ` +
    `${share("color")}, ${share("pattern")} and ${share("shape")}.`;
}

byId("camera").addEventListener("click", () => attempt(toggleCamera));
byId("own").addEventListener("click", () =>
  attempt(async () => {
    if (camera.isOn) await toggleCamera();
    beginOwn();
  }),
);
byId("example").addEventListener("click", () => attempt(showExample));
byId("another").addEventListener("click", () => attempt(showAnother));
byId("add-class").addEventListener("click", () => classes.add(""));
byId("learn").addEventListener("click", () => attempt(learn));
onFile(byId("open"), byId("file"), (bytes) => attempt(() => open(bytes)));
onFile(byId("try"), byId("picture"), (bytes, name) =>
  attempt(async () => {
    try {
      recognize(await createImageBitmap(new Blob([bytes as Uint8Array<ArrayBuffer>])));
    } catch {
      throw new Error(`${name} is no picture that this browser can read.`);
    }
  }),
);
/** What a link holds: the last layer. */
interface Linked {
  readonly head: Uint8Array;
}

offerToTakeHome(byId("take-home"), {
  name: () => "personalized",
  state: async (): Promise<Linked> => ({ head: await trainer.save() }),
  weights: () => trainer.save(),
  onnx: () => trainer.onnx(),
});
watchVisibility((isHidden) => camera.setEnabled(!isHidden));
tellMeasured();
await attempt(start);
