import { byId } from "../shared/frame.js";
import { Camera } from "../shared/media/camera.js";
import { movesLittle } from "../shared/motion.js";
import { attempt } from "../shared/problem.js";
import { watchVisibility } from "../shared/visibility.js";
import { Colorist } from "./colorist.js";
import { drawScene } from "./drawn_scene.js";

const video = byId<HTMLVideoElement>("video");
const drawn = byId<HTMLCanvasElement>("drawn");
const canvases = {
  given: byId<HTMLCanvasElement>("given"),
  guess: byId<HTMLCanvasElement>("guess"),
};
const camera = new Camera(video, "You can watch the drawn scene instead.");
let colorist: Colorist | undefined;
let isWatchingScene = false;
let learns = true;
let steps = 0;
let isLooking = false;

/** Does what the visitor has asked for; ends what goes on if that fails. */
const tried = (work: () => void | Promise<void>) => attempt(work, stopWatching);

function stopWatching(): void {
  if (camera.isOn) camera.stop();
  isWatchingScene = false;
  showState();
}

async function toggleCamera(): Promise<void> {
  const isStarting = !camera.isOn;
  stopWatching();
  if (!isStarting) return;
  byId("status").textContent = "Waiting for the camera …";
  await camera.start(showState);
  watch();
}

function toggleScene(): void {
  const isStarting = !isWatchingScene;
  stopWatching();
  if (!isStarting) return;
  isWatchingScene = true;
  watch();
}

function showState(): void {
  byId("camera").textContent = camera.isOn ? "Stop the camera" : "Use the camera";
  byId("scene").textContent = isWatchingScene ? "Stop the scene" : "Watch a drawn scene";
  byId("learning").textContent = learns ? "Stop learning" : "Learn";
  drawn.hidden = camera.isOn;
}

function watch(): void {
  byId("status").textContent = "";
  showState();
  if (!isLooking) requestAnimationFrame((time) => void tried(() => look(time)));
}

// Browsers do not call it while the page is hidden.
async function look(time: number): Promise<void> {
  if (colorist === undefined || !(camera.isOn || isWatchingScene)) return;
  if (isWatchingScene) drawScene(drawn, time);
  isLooking = true;
  try {
    await colorist.look(camera.isOn ? video : drawn, canvases, learns);
  } finally {
    isLooking = false;
  }
  if (learns) steps++;
  showNumbers(colorist);
  requestAnimationFrame((next) => void tried(() => look(next)));
}

function showNumbers({ traffic: { sent, read } }: Colorist): void {
  byId("steps").textContent = String(steps);
  byId("sent").textContent = String(sent);
  byId("read").textContent = String(read);
}

async function start(): Promise<void> {
  byId("status").textContent = "Starting the engine …";
  try {
    colorist = await Colorist.open();
  } catch (error) {
    const { guessOnCpu } = await import("./on_cpu.js");
    await guessOnCpu(drawn, canvases);
    throw error;
  }
  colorist.lost.then((reason) =>
    tried(() => Promise.reject(new Error(`The GPU is gone: ${reason}`))),
  );
  byId("runtime").textContent = "WebGPU";
  byId("status").textContent = "";
  for (const id of ["camera", "scene", "learning", "forget"]) {
    byId<HTMLButtonElement>(id).disabled = false;
  }
}

byId("camera").addEventListener("click", () => tried(toggleCamera));
byId("scene").addEventListener("click", () => tried(toggleScene));
byId("learning").addEventListener("click", () => {
  learns = !learns;
  showState();
});
byId("forget").addEventListener("click", () => {
  colorist?.forget();
  steps = 0;
});
watchVisibility((isHidden) => camera.setEnabled(!isHidden));
drawScene(drawn, 0);
await tried(start);
// It has watched the scene before, and goes on at once where visitors do not mind motion.
if (colorist !== undefined && !movesLittle()) await tried(toggleScene);
