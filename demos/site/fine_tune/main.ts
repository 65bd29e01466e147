import { chosenDevice, fillDevices } from "../shared/device_picker.js";
import { download } from "../shared/files.js";
import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { errorText } from "../shared/printed.js";
import { showProblem } from "../shared/problem.js";
import { runtimeText } from "../shared/runtime_text.js";
import { SampleList } from "../shared/samples.js";
import { stateOfLink } from "../shared/take_home/state_link.js";
import { offerToTakeHome } from "../shared/take_home/take_home.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import { watchVisibility } from "../shared/visibility.js";
import { kExampleAnswers, kExampleText } from "./example_lessons.js";
import { kFinished } from "./finished/finished.js";
import { type ModelFolder, modelFolderOf } from "./folder.js";
import { readTable } from "./lesson.js";
import type {
  Lesson,
  LessonFacts,
  LessonSettings,
  OpenedModel,
  Prompt,
  StepDone,
  WeightKind,
} from "./messages.js";
import type { FineTuner } from "./trainer.js";

const kAdapterFiles = {
  "save-weights": "adapter_model.safetensors",
  "save-config": "adapter_config.json",
};
// Large models need smaller steps.
const kRates = { shipped: "0.01", opened: "0.0005" };

// The buttons that start something, what it is, and their texts.
const kStarters = [
  ["run", "training", "Train"],
  ["write", "writing", "Write"],
  ["open", "opening", "Open a folder of model files"],
] as const;

const { trainer } = linkTrainer<FineTuner>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const run = byId<HTMLButtonElement>("run");
const device = byId<HTMLSelectElement>("device");
const weights = byId<HTMLSelectElement>("weights");
const rank = byId<HTMLSelectElement>("rank");
const rate = byId<HTMLInputElement>("rate");
const steps = byId<HTMLInputElement>("steps");
const lesson = byId<HTMLTextAreaElement>("lesson");
const prompt = byId<HTMLInputElement>("prompt");
const samples = new SampleList(byId("samples"));
const chart = new LineChart(byId("loss"), {
  label: "Loss by step",
  x: "step",
  series: [{ label: "loss", color: "series-1" }],
});

// What was typed for each kind of lesson, and the prompt that was used with it.
const drafts = {
  answers: { lesson: kExampleAnswers, prompt: "Who are you?" },
  text: { lesson: kExampleText, prompt: "Dear keeper" },
};
let kind: Lesson["kind"] = "answers";
let folder: ModelFolder | null = null;
// The worker's model: its place, device and weights as a text; null if there is none.
let openedAs: string | null = null;
let hasAdapter = false;
// Whether it is the adapter that comes with the page; the worker opens that with the model.
let isShippedAdapter = false;
// What goes on: the button that has started it stops it.
let activity: "training" | "writing" | "opening" | null = null;

function tell(text: string): void {
  byId("status").textContent = text;
}

function updateControls(): void {
  const isBusy = activity !== null;
  for (const [id, own, label] of kStarters) {
    const button = byId<HTMLButtonElement>(id);
    button.textContent = activity === own ? "Stop" : label;
    button.disabled = isBusy && activity !== own;
  }
  // During a training the worker writes between two steps.
  if (activity === "training") byId<HTMLButtonElement>("write").disabled = false;
  // With an adapter, these cannot be changed without losing what it has learned.
  const keeps = hasAdapter && !isShippedAdapter;
  for (const control of [device, weights, rank]) control.disabled = isBusy || keeps;
  for (const id of ["anew", ...Object.keys(kAdapterFiles)]) {
    byId<HTMLButtonElement>(id).disabled = isBusy || !hasAdapter;
  }
  for (const id of ["shipped", "open-adapter"]) byId<HTMLButtonElement>(id).disabled = isBusy;
}

/** Runs what the visitor has asked for; what goes wrong is shown, unless they have stopped it. */
async function busy(kind: typeof activity, work: () => Promise<void>): Promise<void> {
  activity = kind;
  showProblem(null);
  updateControls();
  try {
    await work();
  } catch (error) {
    if ((error as Error).name === "AbortError") tell("Stopped.");
    else {
      tell("");
      showProblem(adviceFor(error));
    }
  } finally {
    activity = null;
    updateControls();
  }
}

function adviceFor(error: unknown): string {
  const text = errorText(error);
  if (/OutOfMemory|memory/i.test(text)) {
    return `${text}\nChoose “int8” for the weights, shorter texts, or a smaller model.`;
  }
  return text;
}

/** Opens the chosen model in the worker, if it is not open already. */
async function ensureModel(): Promise<void> {
  const chosen = chosenDevice(device);
  const wanted = `${folder?.name ?? ""} ${chosen} ${weights.value}`;
  if (openedAs === wanted) return;
  openedAs = null;
  tell("Starting the engine …");
  byId("runtime").textContent = runtimeText(await trainer.start(chosen), chosen);
  const name = folder?.name ?? "the small model";
  const watch = proxy((share: number) => tell(`Opening ${name}: ${Math.round(100 * share)} %`));
  const opened = await trainer.open(
    folder?.files ?? null,
    chosen,
    weights.value as WeightKind,
    watch,
  );
  if (isShippedAdapter) await trainer.openFinished();
  openedAs = wanted;
  showModel(opened);
  tell("");
}

function showModel({ type, parameters, hasTemplate }: OpenedModel): void {
  const millions = (parameters / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 });
  const chats = hasTemplate ? ", with its own format for chats" : "";
  byId("model-name").textContent =
    folder === null
      ? `The small model of this page: ${type}, ${millions} million parameters that have read Moby-Dick.`
      : `${folder.name}: ${type}, ${millions} million parameters${chats}.`;
}

function lessonOf(): Lesson {
  if (kind === "text") {
    if (lesson.value.trim() === "") throw new Error("The lesson is empty: paste a text.");
    return { kind, text: lesson.value.trim() };
  }
  const { pairs, problems } = readTable(lesson.value);
  if (problems.length > 0) throw new Error(`${problems.join(" ")} ${kPairAdvice}`);
  if (pairs.length === 0) throw new Error(`The lesson is empty. ${kPairAdvice}`);
  return { kind, pairs };
}

const kPairAdvice = "Write a question, a tab or |, and its answer.";

function numberIn(input: HTMLInputElement): number {
  if (!input.checkValidity() || input.value === "") {
    throw new Error(
      `${input.labels?.[0]?.textContent?.trim()}: ${input.validationMessage || "a number is missing."}`,
    );
  }
  return input.valueAsNumber;
}

function promptOf(): Prompt {
  return { kind, text: prompt.value };
}

async function train(): Promise<void> {
  const chosen = lessonOf();
  const settings: LessonSettings = {
    steps: numberIn(steps),
    rate: numberIn(rate),
    rank: Number(rank.value),
    prompt: promptOf(),
  };
  await ensureModel();
  tell("Training …");
  hasAdapter = true;
  isShippedAdapter = false;
  updateControls();
  await trainer.train(chosen, settings, listener());
  tell("The lesson is learned: ask, go on training, or download the adapter.");
}

function listener() {
  let cutNote = "";
  return proxy({
    began: ({ trained, cut }: LessonFacts) => {
      byId("trained").textContent = `${trained.toLocaleString("en")} numbers`;
      if (cut > 0) cutNote = ` ${cut} answers are cut, because they are too long.`;
      tell(`Training …${cutNote}`);
    },
    stepped: ({ step, loss, share, tokensPerSecond }: StepDone) => {
      chart.push(step, loss);
      byId<HTMLProgressElement>("progress").value = share;
      byId("step").textContent = step.toLocaleString("en");
      byId("train-loss").textContent = loss.toFixed(3);
      byId("rate-now").textContent = Math.round(tokensPerSecond).toLocaleString("en");
    },
    paused: () => {
      if (document.hidden) tell("Paused while this page is hidden.");
    },
    wrote: (text: string, begins: boolean, step: number | null) => {
      samples.add({ title: titleOf(step), begins, text });
    },
  });
}

async function write(): Promise<void> {
  await ensureModel();
  await trainer.write(promptOf(), !byId<HTMLInputElement>("plain").checked, listener());
}

function showProgressOf(step: number): void {
  chart.clear();
  byId<HTMLProgressElement>("progress").value = 0;
  byId("step").textContent = String(step);
  for (const id of ["train-loss", "rate-now", "trained"]) byId(id).textContent = "–";
}

async function startOver(): Promise<void> {
  await trainer.removeAdapter();
  loseAdapter();
  samples.clear();
  showProgressOf(0);
  tell("");
}

async function useFolder(next: ModelFolder | null): Promise<void> {
  folder = next;
  openedAs = null;
  loseAdapter();
  samples.clear();
  showProgressOf(0);
  showPlace();
  try {
    await ensureModel();
  } catch (error) {
    if (next === null || (error as Error).name === "AbortError") throw error;
    folder = null;
    showPlace();
    throw new Error(`${next.name} could not be opened. ${errorText(error)}`);
  }
}

function loseAdapter(): void {
  hasAdapter = false;
  isShippedAdapter = false;
}

// The adapter that the page has, its lesson, and what was said before and after it.
function showFinished(): void {
  hasAdapter = true;
  isShippedAdapter = true;
  const { steps: done, trained, points, said } = kFinished;
  for (const [step, loss] of points) chart.push(step, loss);
  byId<HTMLProgressElement>("progress").value = 1;
  byId("step").textContent = String(done);
  byId("train-loss").textContent = (points.at(-1)?.[1] ?? 0).toFixed(3);
  byId("trained").textContent = `${trained.toLocaleString("en")} numbers`;
  for (const { step, text } of said) samples.add({ title: titleOf(step), begins: true, text });
  tell(
    "This adapter comes with the page and knows the answers below: ask, teach it others, or start over.",
  );
}

function titleOf(step: number | null): string {
  return step === null ? "without an adapter" : `after step ${step.toLocaleString("en")}`;
}

function showPlace(): void {
  rate.value = folder === null ? kRates.shipped : kRates.opened;
  byId("shipped").hidden = folder === null;
}

async function openAdapter(files: readonly File[]): Promise<void> {
  const named = Object.fromEntries(files.map((file) => [file.name, file]));
  const missing = Object.values(kAdapterFiles).filter((name) => !Object.hasOwn(named, name));
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(" and ")} is missing: choose both files of an adapter together.`,
    );
  }
  loseAdapter();
  await ensureModel();
  const opened = await trainer.openAdapter(named, 0);
  hasAdapter = true;
  if (![...rank.options].some(({ value }) => value === String(opened)))
    rank.add(new Option(String(opened)));
  rank.value = String(opened);
  showProgressOf(0);
  tell("The adapter is open: ask, or go on training.");
}

function showKind(): void {
  const isTable = kind === "answers";
  byId("lesson-label").textContent = isTable
    ? "One pair per line: question | answer"
    : "A text to imitate";
  lesson.value = drafts[kind].lesson;
  prompt.value = drafts[kind].prompt;
  describeLesson();
}

function describeLesson(): void {
  const note = byId("lesson-note");
  if (kind === "text") {
    note.textContent = `${lesson.value.trim().length.toLocaleString("en")} characters.`;
    return;
  }
  const { pairs, problems } = readTable(lesson.value);
  const rest = problems.length === 0 ? "" : ` ${problems.slice(0, 3).join(" ")}`;
  note.textContent = `${pairs.length} ${pairs.length === 1 ? "pair" : "pairs"}. Rows of a spreadsheet and lines of JSON can be pasted too.${rest}`;
}

run.addEventListener("click", () => {
  if (activity === "training") return trainer.stop();
  return busy("training", train);
});
byId("anew").addEventListener("click", () => busy("opening", startOver));
rank.addEventListener("change", () => {
  if (isShippedAdapter) return busy("opening", startOver);
});
byId("writing").addEventListener("submit", (event) => {
  event.preventDefault();
  if (activity === "writing") return trainer.stop();
  if (activity === null) return busy("writing", write);
  return trainer.write(promptOf(), !byId<HTMLInputElement>("plain").checked, listener());
});
for (const [id, name] of Object.entries(kAdapterFiles)) {
  byId(id).addEventListener("click", () =>
    busy("opening", async () => {
      await ensureModel();
      const bytes = (await trainer.adapterFiles())[name];
      if (bytes !== undefined) download(name, bytes);
    }),
  );
}
for (const [button, input, use] of [
  ["open", "folder", (files: File[]) => useFolder(modelFolderOf(files))],
  ["open-adapter", "adapter-files", openAdapter],
] as const) {
  const picker = byId<HTMLInputElement>(input);
  byId(button).addEventListener("click", () => {
    if (activity === "opening") return trainer.stop();
    picker.click();
  });
  picker.addEventListener("change", () => {
    const files = [...(picker.files ?? [])];
    // Allows the same files to be chosen again.
    picker.value = "";
    if (files.length > 0) void busy("opening", async () => use(files));
  });
}
byId("shipped").addEventListener("click", () => busy("opening", () => useFolder(null)));
for (const radio of document.querySelectorAll<HTMLInputElement>("[name=kind]")) {
  radio.addEventListener("change", () => {
    drafts[kind] = { lesson: lesson.value, prompt: prompt.value };
    kind = radio.value as Lesson["kind"];
    showKind();
  });
}
lesson.addEventListener("input", describeLesson);
watchVisibility((isHidden) => {
  void trainer.setPaused(isHidden);
  if (!isHidden && activity === "training") tell("Training …");
});

/** What a link holds: a lesson to learn, and the prompt. */
interface Linked {
  readonly kind: Lesson["kind"];
  readonly lesson: string;
  readonly prompt: string;
}

offerToTakeHome(byId("take-home"), {
  name: () => "lesson",
  state: async (): Promise<Linked> => ({ kind, lesson: lesson.value, prompt: prompt.value }),
});

// The adapter that the page has does not know the lesson of a link.
function showLinked(linked: Linked): void {
  kind = linked.kind;
  drafts[kind] = linked;
  for (const radio of document.querySelectorAll<HTMLInputElement>("[name=kind]")) {
    radio.checked = radio.value === kind;
  }
  tell("Somebody has sent you this lesson: press Train, and ask.");
}

const linked = stateOfLink() as Linked | null;
if (linked === null) showFinished();
else showLinked(linked);
showKind();
updateControls();
await fillDevices(device);
