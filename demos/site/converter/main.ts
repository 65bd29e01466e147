import { download } from "../shared/files.js";
import { byId } from "../shared/frame.js";
import { errorText } from "../shared/printed.js";
import { showProblem } from "../shared/problem.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer } from "../shared/trainer_link.js";
import { GraphPanel } from "./graph/panel.js";
import type { Format, Opened } from "./messages.js";
import { RunPanel } from "./run_panel.js";
import { TeachPanel } from "./teach_panel.js";
import type { Converter } from "./trainer.js";
import { WeightsTable } from "./weights_table.js";

const kKinds = {
  onnx: "ONNX model",
  torch: "PyTorch file (torch.save)",
  safetensors: "safetensors file",
};
// Metadata may be anything, also pages of JSON.
const kMostCharacters = 100;
const kFormats: readonly Format[] = ["onnx", "safetensors", "pt"];

const { trainer } = linkTrainer<Converter>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const chosen = byId<HTMLInputElement>("file");
const buttons = ["choose", "example"].map((id) => byId<HTMLButtonElement>(id));
const drop = byId("drop");

const graph = new GraphPanel((picture) => trainer.layOut(picture));
const weights = new WeightsTable((names) => trainer.measure(names));
const run = new RunPanel(
  async (options) => {
    const result = await trainer.run(options);
    await graph.showShapes(result.shapes);
    return result;
  },
  () => void teach.describe(),
);
const teach = new TeachPanel(trainer, {
  sizes: () => run.sizes,
  changed: () => void trainer.tensors().then((rows) => weights.show(rows, true)),
});

let name = "";
let isOpening = false;

/** Opens the first file that is a model or weights; the others may be those beside it. */
async function open(files: readonly File[]): Promise<void> {
  const [first, ...others] = [...files].sort((a, b) => rank(a) - rank(b));
  if (first === undefined || isOpening) return;
  isOpening = true;
  setBusy(true);
  showProblem(null);
  byId("status").textContent = `Opening ${first.name} …`;
  try {
    await show(await trainer.open(first, others));
    byId("status").textContent = `${first.name} is open.`;
  } catch (error) {
    byId("status").textContent = "";
    showProblem(errorText(error));
  } finally {
    isOpening = false;
    setBusy(false);
  }
}

async function openExample(): Promise<void> {
  setBusy(true);
  showProblem(null);
  try {
    const response = await fetch(new URL("example/digits.onnx", document.baseURI));
    if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
    await open([new File([await response.blob()], "digits.onnx")]);
  } catch (error) {
    showProblem(`The example could not be loaded: ${errorText(error)}.`);
  } finally {
    setBusy(false);
  }
}

// Of several files, those with a known ending come first: the others are what a model keeps its weights in.
function rank({ name }: File): number {
  return /\.(onnx|pt|pth|bin|safetensors)$/i.test(name) ? 0 : 1;
}

async function show(opened: Opened): Promise<void> {
  const { model, problem, tensors, formats } = opened;
  name = opened.name.replace(/\.\w+$/, "");
  byId("opened").hidden = false;
  showFacts(opened);
  showProblem(problem);
  const canRun = model !== null && problem === null;
  byId("graph-card").hidden = model === null;
  byId("run-card").hidden = !canRun;
  byId("teach-card").hidden = !canRun;
  byId("save-label").textContent =
    formats.length > 0 ? "Save as" : "It cannot be saved, because it cannot be loaded.";
  byId("save-note").textContent = "";
  for (const button of saveButtons())
    button.hidden = !formats.includes(button.dataset.format as Format);
  weights.show(tensors, model === null || canRun);
  if (canRun) {
    run.show(model.inputs);
    await teach.show(model.inputs);
  }
  if (model !== null) await graph.show(model);
}

function showFacts({ kind, name, bytes, tensors, metadata, model }: Opened): void {
  const elements = tensors.reduce(
    (sum, { shape }) => sum + shape.reduce((n, size) => n * size, 1),
    0,
  );
  const facts: [string, string][] = [
    ["name", name],
    ["kind", kKinds[kind]],
    ["size", bytesText(bytes)],
    ["tensors", `${tensors.length} with ${elements.toLocaleString("en")} elements`],
  ];
  if (model !== null) {
    facts.push(["nodes", model.nodes.length.toLocaleString("en")], ["opset", String(model.opset)]);
    facts.push(["written by", model.producer || "–"]);
  } else facts.push(["graph", "none: such a file has only weights"]);
  const texts = Object.entries(metadata).map(([key, text]): [string, string] => [key, cut(text)]);
  facts.push(...texts);
  byId("facts").replaceChildren(
    ...facts.map(([term, text]) => {
      const row = document.createElement("div");
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = term;
      dd.textContent = text;
      row.append(dt, dd);
      return row;
    }),
  );
}

function cut(text: string): string {
  return text.length > kMostCharacters ? `${text.slice(0, kMostCharacters)} …` : text;
}

function bytesText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function setBusy(isBusy: boolean): void {
  for (const button of buttons) button.disabled = isBusy;
}

function saveButtons(): HTMLButtonElement[] {
  return [...document.querySelectorAll<HTMLButtonElement>("button[data-format]")];
}

async function saveAs(format: Format): Promise<void> {
  const note = byId("save-note");
  note.textContent = "Writing …";
  try {
    const bytes = await trainer.save(format);
    download(`${name}.${format}`, bytes);
    note.textContent = `${name}.${format}, ${bytesText(bytes.length)}`;
  } catch (error) {
    note.textContent = errorText(error);
  }
}

for (const format of kFormats) {
  document
    .querySelector(`button[data-format=${format}]`)
    ?.addEventListener("click", () => void saveAs(format));
}
byId("choose").addEventListener("click", () => chosen.click());
chosen.addEventListener("change", () => {
  const files = [...(chosen.files ?? [])];
  // Allows the same file to be chosen again.
  chosen.value = "";
  void open(files);
});
byId("example").addEventListener("click", () => void openExample());

// A file that misses the card would replace the page.
for (const type of ["dragover", "drop"] as const) {
  document.addEventListener(type, (event) => event.preventDefault());
}
drop.addEventListener("dragover", () => drop.classList.add("over"));
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
document.addEventListener("drop", ({ dataTransfer }) => {
  drop.classList.remove("over");
  void open([...(dataTransfer?.files ?? [])]);
});

byId("runtime").textContent = runtimeText(await trainer.start(), "cpu");
// The page opens with a model to look at.
await openExample();
