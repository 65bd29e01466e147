import { onFile } from "../shared/files.js";
import { byId } from "../shared/frame.js";
import { lessonText, showLesson, type Words } from "../shared/last_layer/lesson.js";
import { PredictionList } from "../shared/last_layer/prediction_list.js";
import { newestWins } from "../shared/newest_wins.js";
import { ExampleClasses, type Shown } from "../shared/pictures/classes.js";
import { attempt, showProblem } from "../shared/problem.js";
import { runtimeText } from "../shared/runtime_text.js";
import { stateOfLink } from "../shared/take_home/state_link.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer } from "../shared/trainer_link.js";
import { watchVisibility } from "../shared/visibility.js";
import { anySound, kSounds, makeSound } from "./made_sounds.js";
import { Microphone } from "./microphone.js";
import { chosen, kRate, resampled, type Samples } from "./sound.js";
import { paintSpectrogram, pictureOf } from "./spectrogram.js";
import type { SoundLearner } from "./trainer.js";

const kSoundsAtOnce = 12;
const kRecordingMs = 3000;
const kHopMs = 160;
const kWords: Words = {
  examples: "examples",
  things: "sounds",
  tooFew: "Four or more of each would show how well.",
  tested: "those",
};

/** A sound of a lesson; its picture is the spectrogram. */
interface Sound extends Shown {
  readonly samples: Samples;
}

const { trainer } = linkTrainer<SoundLearner>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const shown = byId<HTMLCanvasElement>("shown");
const microphone = new Microphone("You can add sounds from files instead.");
const prediction = new PredictionList(byId("prediction"));
const classes = new ExampleClasses<Sound>(byId("classes"), {
  kind: { names: ["sound", "sounds"], accept: "audio/*", read: soundsOf },
  making: {
    label: `Record ${kRecordingMs / 1000} s`,
    make: (add) => attempt(() => recordInto(add)),
  },
  changed: () => {},
  failed: showProblem,
});
let hasLearned = false;
// Whether the sounds are those that the page makes.
let isExample = false;
let latest: Samples | null = null;

const hear = newestWins(
  async (samples: Samples) => {
    latest = samples;
    paintSpectrogram(shown, await trainer.spectrogram(samples));
    byId<HTMLButtonElement>("play").disabled = microphone.isOn;
    const shares = hasLearned ? await trainer.predict(samples) : null;
    if (shares === null) return;
    const { name, share } = prediction.show(shares);
    // A microphone delivers too many sounds to read each out.
    byId("verdict").textContent = microphone.isOn
      ? ""
      : `${name}, ${(100 * share).toFixed(0)} % sure`;
  },
  () => {},
);

async function toggleMicrophone(): Promise<void> {
  if (microphone.isOn) microphone.stop();
  else {
    if (isExample) beginOwn();
    byId("status").textContent = "Waiting for the microphone …";
    await microphone.start(showMicrophone);
    byId("status").textContent = hasLearned
      ? ""
      : "Press Record beside a sound, and make it a few times, with pauses.";
    void listen();
  }
  showMicrophone();
}

function showMicrophone(): void {
  byId("microphone").textContent = microphone.isOn ? "Stop the microphone" : "Use the microphone";
  byId("another").hidden = true;
}

async function listen(): Promise<void> {
  while (microphone.isOn) {
    if (!document.hidden) hear(microphone.latest());
    await turn();
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, kHopMs));

async function recordInto(add: (sound: Sound) => void): Promise<void> {
  if (!microphone.isOn) await toggleMicrophone();
  const pieces: Samples[] = [];
  for (let i = 0; i < kRecordingMs / kHopMs && microphone.isOn; i++) {
    byId("status").textContent = "Recording …";
    await turn();
    if (microphone.isOn) pieces.push(microphone.latest());
  }
  byId("status").textContent = "";
  for (const sound of await soundsIn(pieces)) add(sound);
}

// The sounds among pieces that overlap.
function soundsIn(pieces: readonly Samples[]): Promise<Sound[]> {
  return Promise.all(chosen(pieces, (kHopMs * kRate) / 1000).map(soundOf));
}

async function soundOf(samples: Samples): Promise<Sound> {
  return { samples, picture: await pictureOf(await trainer.spectrogram(samples)) };
}

// The sounds of a file.
async function soundsOf(file: File): Promise<Sound[]> {
  const context = new OfflineAudioContext(1, 1, 44_100);
  const decoded = await context.decodeAudioData(await file.arrayBuffer());
  const signal = decoded.getChannelData(0);
  const hop = (kHopMs * decoded.sampleRate) / 1000;
  const pieces: Samples[] = [];
  for (let end = Math.min(4 * hop, signal.length); end <= signal.length; end += hop)
    pieces.push(resampled(signal.subarray(0, end), decoded.sampleRate));
  return soundsIn(pieces);
}

function learn(): Promise<void> {
  const { names, examples, labels } = classes.lesson;
  return showLesson(async () => {
    const learned = await trainer.learn({
      names,
      examples: examples.map(({ samples }) => samples),
      labels,
    });
    begin(names);
    if (latest !== null && !microphone.isOn) hear(latest);
    return lessonText(learned, examples.length, names.length, kWords);
  });
}

function begin(names: readonly string[]): void {
  hasLearned = true;
  prediction.begin(names);
}

// Sounds that the page makes, with one to recognize.
async function makeExample(): Promise<void> {
  if (microphone.isOn) await toggleMicrophone();
  classes.clear();
  isExample = true;
  for (const name of Object.keys(kSounds)) {
    const made = Array.from({ length: kSoundsAtOnce }, () => soundOf(makeSound(name)));
    classes.add(name, await Promise.all(made));
  }
  hear(makeSound("whistle"));
  byId("another").hidden = false;
}

// Sounds without examples, for those of the visitor.
function beginOwn(names: readonly string[] = ["sound 1", "silence"]): void {
  isExample = false;
  hasLearned = false;
  latest = null;
  classes.clear();
  for (const name of names) classes.add(name);
  prediction.begin([]);
  for (const id of ["verdict", "learned"]) byId(id).textContent = "";
  byId<HTMLButtonElement>("play").disabled = true;
  shown.getContext("2d")?.clearRect(0, 0, shown.width, shown.height);
  byId("another").hidden = true;
  byId("status").textContent = "Add examples of two or more sounds, and press Learn.";
}

async function play(): Promise<void> {
  if (latest === null) return;
  const context = new AudioContext();
  await context.resume();
  const source = new AudioBufferSourceNode(context, {
    buffer: new AudioBuffer({ length: latest.length, sampleRate: kRate }),
  });
  source.buffer?.copyToChannel(latest, 0);
  source.connect(context.destination);
  source.addEventListener("ended", () => void context.close());
  source.start();
}

async function start(): Promise<void> {
  byId("status").textContent = "Starting the engine …";
  const linked = stateOfLink() as Linked | null;
  byId("runtime").textContent = runtimeText(await trainer.start(), "cpu");
  byId("status").textContent = "";
  if (linked === null) {
    await makeExample();
    await learn();
  } else await open(linked.head);
  for (const id of ["microphone", "own", "example", "another", "add-class", "learn", "open"])
    byId<HTMLButtonElement>(id).disabled = false;
}

// What was learned before, here or by whoever has sent a link.
async function open(head: Uint8Array): Promise<void> {
  const names = await trainer.open(head);
  beginOwn(names);
  begin(names);
  byId("learned").textContent = `It knows ${names.join(", ")}.`;
  byId("status").textContent = "Use the microphone to try it.";
}

byId("microphone").addEventListener("click", () => attempt(toggleMicrophone));
byId("own").addEventListener("click", () =>
  attempt(async () => {
    if (microphone.isOn) await toggleMicrophone();
    beginOwn();
  }),
);
byId("example").addEventListener("click", () =>
  attempt(async () => {
    await makeExample();
    await learn();
  }),
);
byId("another").addEventListener("click", () => hear(makeSound(anySound())));
byId("play").addEventListener("click", () => attempt(play));
byId("add-class").addEventListener("click", () => classes.add(""));
byId("learn").addEventListener("click", () => attempt(learn));
onFile(byId("open"), byId("file"), (bytes) => attempt(() => open(bytes)));

/** What a link holds: the last layer. */
interface Linked {
  readonly head: Uint8Array;
}

offerToTakeHome(byId("take-home"), {
  name: () => "sounds",
  state: async (): Promise<Linked> => ({ head: await trainer.save() }),
  weights: () => trainer.save(),
});
watchVisibility((isHidden) => microphone.setEnabled(!isHidden));
await attempt(start);
