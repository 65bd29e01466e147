import { download } from "../shared/files.js";
import { byId, showError } from "../shared/frame.js";
import { Cell } from "./cell.js";
import { fileText, type Notebook, notebookOf } from "./file.js";
import { Kernel, type Running } from "./kernel.js";
import { kLanguages, type Language } from "./languages.js";
import { kPrograms } from "./programs.js";

const kTitles = Object.keys(kPrograms);

const language = byId<HTMLSelectElement>("language");
const program = byId<HTMLSelectElement>("program");
const cells: Cell[] = [];
let shown: Language = "javascript";
let kernel = new Kernel("javascript");
let running = 0;

const owner = {
  get language() {
    return kLanguages[shown].load;
  },
  run: (code: string, cell: Running) => busy(kernel.run(code, cell)),
  changed: keep,
  goOn(cell: Cell): void {
    const next = cells[cells.indexOf(cell) + 1] ?? add("");
    next.focus();
  },
  remove(cell: Cell): void {
    cells.splice(cells.indexOf(cell), 1);
    cell.element.remove();
    if (cells.length === 0) add("");
    keep();
  },
};

async function busy(run: Promise<boolean>): Promise<boolean> {
  running++;
  byId<HTMLButtonElement>("stop").disabled = false;
  const hasRun = await run;
  running--;
  byId<HTMLButtonElement>("stop").disabled = running === 0;
  return hasRun;
}

function add(code: string): Cell {
  const cell = new Cell(owner, code, cells.length + 1);
  cells.push(cell);
  byId("cells").append(cell.element);
  return cell;
}

function notebook(): Notebook {
  return { language: shown, cells: cells.map(({ code }) => code) };
}

// Shows a notebook, whose variables do not exist yet.
function show({ language: name, cells: codes }: Notebook): void {
  kernel.restart();
  kernel = new Kernel(name);
  shown = name;
  language.value = name;
  showCells(codes);
}

function showCells(codes: readonly string[]): void {
  for (const { element } of cells.splice(0)) element.remove();
  codes.forEach(add);
}

// Some browsers store nothing.
function keep(): void {
  try {
    localStorage.setItem(kLanguages[shown].kept, fileText(notebook()));
    localStorage.setItem("notebook-language", shown);
  } catch {
    say("This browser keeps nothing: save to a file.");
  }
}

function kept(name: Language): Notebook {
  const first = { language: name, cells: kPrograms[kTitles[0] as string]?.[name] ?? [] };
  try {
    const text = localStorage.getItem(kLanguages[name].kept);
    return text === null ? first : notebookOf(text);
  } catch {
    return first;
  }
}

// That of the address, such as "#python", or of the last visit.
function firstLanguage(): Language {
  const wanted = location.hash.slice(1);
  if (wanted in kLanguages) return wanted as Language;
  try {
    return localStorage.getItem("notebook-language") === "python" ? "python" : "javascript";
  } catch {
    return "javascript";
  }
}

function say(text: string): void {
  byId("status").textContent = text;
}

function save(): void {
  download("notebook.ipynb", new TextEncoder().encode(fileText(notebook())));
}

async function open(input: HTMLInputElement): Promise<void> {
  const file = input.files?.[0];
  if (file === undefined) return;
  try {
    const opened = notebookOf(await file.text());
    keep();
    show(opened);
    say(`${file.name} is open.`);
    keep();
    showError(null);
  } catch (error) {
    showError(error);
  }
  input.value = "";
}

// The cells of a program come after those of the visitor.
function begin(title: string): void {
  const codes = kPrograms[title]?.[shown] ?? [];
  const now = notebook().cells.join();
  const isUntouched = kTitles.some((one) => kPrograms[one]?.[shown].join() === now);
  if (isUntouched) showCells(codes);
  else for (const code of codes) add(code);
  say(isUntouched ? "" : "The program is below your cells.");
  keep();
  program.value = "";
}

function stop(): void {
  say(kernel.stop() ? "Interrupted: the variables are there." : "Stopped: the variables are gone.");
}

for (const title of kTitles) program.add(new Option(title));
show(kept(firstLanguage()));
byId("run-all").addEventListener("click", () => {
  for (const cell of cells) void cell.run();
});
byId("stop").addEventListener("click", stop);
byId("restart").addEventListener("click", () => {
  kernel.restart();
  say("Started anew: the variables are gone.");
});
byId("add").addEventListener("click", () => add("").focus());
byId("save").addEventListener("click", save);
byId<HTMLInputElement>("open").addEventListener("change", ({ target }) => {
  void open(target as HTMLInputElement);
});
language.addEventListener("change", () => {
  keep();
  show(kept(language.value as Language));
  keep();
});
program.addEventListener("change", () => begin(program.value));
addEventListener("pagehide", keep);
