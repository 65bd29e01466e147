import { download } from "../shared/files.js";
import { byId, showError } from "../shared/frame.js";
import { Cell } from "./cell.js";
import { cellsOf, fileText } from "./file.js";
import { Kernel } from "./kernel.js";

const kKey = "notebook";

const kFirst = [
  `import * as eg from "edgegrad";

await eg.init();
const x = eg.linspace(-1, 1, 100).unsqueeze(1);
const y = x.mul(3).sin();
x.shape`,
  `const model = new eg.nn.Sequential(new eg.nn.Linear(1, 32), new eg.nn.Tanh(), new eg.nn.Linear(32, 1));
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
for (let step = 0; step < 300; step++) {
  eg.scope(() => {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    plot(step, loss.item());
  });
}`,
  "eg.noGrad(() => model.call(x.narrow(0, 0, 3)))",
];

const kernel = new Kernel();
const cells: Cell[] = [];
let running = 0;

const owner = {
  kernel: {
    run: (...given: Parameters<Kernel["run"]>) => busy(kernel.run(...given)),
  } as Kernel,
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

async function busy(run: Promise<void>): Promise<void> {
  running++;
  byId<HTMLButtonElement>("stop").disabled = false;
  await run;
  running--;
  byId<HTMLButtonElement>("stop").disabled = running === 0;
}

function add(code: string): Cell {
  const cell = new Cell(owner, code, cells.length + 1);
  cells.push(cell);
  byId("cells").append(cell.element);
  return cell;
}

function show(codes: readonly string[]): void {
  cells.splice(0).forEach(({ element }) => {
    element.remove();
  });
  codes.forEach(add);
}

// Some browsers store nothing.
function keep(): void {
  try {
    localStorage.setItem(kKey, fileText(cells.map(({ code }) => code)));
  } catch {
    say("This browser keeps nothing: save to a file.");
  }
}

function kept(): readonly string[] {
  try {
    const text = localStorage.getItem(kKey);
    return text === null ? kFirst : cellsOf(text);
  } catch {
    return kFirst;
  }
}

function say(text: string): void {
  byId("status").textContent = text;
}

function restart(text: string): void {
  kernel.restart();
  say(text);
}

function save(): void {
  const text = fileText(cells.map(({ code }) => code));
  download("notebook.ipynb", new TextEncoder().encode(text));
}

async function open(input: HTMLInputElement): Promise<void> {
  const file = input.files?.[0];
  if (file === undefined) return;
  try {
    show(cellsOf(await file.text()));
    restart(`${file.name} is open.`);
    keep();
    showError(null);
  } catch (error) {
    showError(error);
  }
  input.value = "";
}

show(kept());
byId("run-all").addEventListener("click", () => {
  for (const cell of cells) void cell.run();
});
byId("stop").addEventListener("click", () => restart("Stopped: the variables are gone."));
byId("restart").addEventListener("click", () => restart("Started anew: the variables are gone."));
byId("add").addEventListener("click", () => add("").focus());
byId("save").addEventListener("click", save);
byId<HTMLInputElement>("open").addEventListener("change", ({ target }) => {
  void open(target as HTMLInputElement);
});
addEventListener("pagehide", keep);
