import { describeAdapter } from "../../../tests/bench/card/adapter.mjs";
import { kContenders } from "../../../tests/bench/card/contenders.mjs";
import { kSizes, rowsOf } from "../../../tests/bench/card/rows.mjs";
import { cellsOf, kColumns, resultText } from "../../../tests/bench/card/table.mjs";
import { byId } from "../shared/frame.js";
import type { Answer, Order } from "./worker.js";

type Rows = ReturnType<typeof rowsOf>;
type Adapter = NonNullable<Awaited<ReturnType<typeof describeAdapter>>>;
type Found = Record<number, { value?: number; error?: string }> & { failure?: string };

const run = byId<HTMLButtonElement>("run");
const copy = byId<HTMLButtonElement>("copy");
const progress = byId<HTMLProgressElement>("progress");
const names = Object.keys(kContenders) as (keyof typeof kContenders)[];

let worker: Worker | null = null;
let isStopped = false;
let text = "";

/** The size in the address (`?size=tiny`), or the one that suits the adapter. */
function sizeFor({ isSoftware }: Adapter): string {
  const asked = new URLSearchParams(location.search).get("size") ?? "";
  if (kSizes.includes(asked)) return asked;
  return isSoftware ? "small" : "full";
}

/** Resolves when the contender has been measured or its worker was stopped. */
function measure(order: Order, found: Found, onFound: () => void): Promise<void> {
  return new Promise((resolve) => {
    const own = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker = own;
    const end = (failure?: string) => {
      own.terminate();
      if (failure !== undefined) found.failure = failure;
      onFound();
      resolve();
    };
    own.addEventListener("error", (event) => end(event.message || "the worker failed to start"));
    own.addEventListener("stopped", () => end());
    own.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      if ("isDone" in data) return end(data.failure);
      found[data.id] = data;
      onFound();
    });
    own.postMessage(order);
  });
}

async function measureAll(adapter: Adapter, rows: Rows, size: string): Promise<void> {
  const results: Record<string, Found> = {};
  const show = () => {
    showResults(rows, results);
    text = resultText({ adapter, where: navigator.userAgent, rows, results });
  };
  isStopped = false;
  copy.disabled = true;
  run.textContent = "Stop";
  for (const [i, name] of names.entries()) {
    if (isStopped) break;
    byId("status").textContent = `${kContenders[name].title}…`;
    const found: Found = {};
    results[name] = found;
    await measure({ name, size }, found, () => {
      progress.value = (i + Object.keys(found).length / rows.length) / names.length;
      show();
    });
  }
  progress.value = 1;
  run.textContent = "Measure";
  copy.disabled = false;
  byId("status").textContent = isStopped ? "Stopped." : "Done.";
  worker = null;
}

function stop(): void {
  isStopped = true;
  worker?.dispatchEvent(new Event("stopped"));
}

function showResults(rows: Rows, results: Record<string, Found>): void {
  byId("rows").replaceChildren(
    ...rows.map((row) => {
      const line = element("tr");
      const head = element("th", row.title);
      head.setAttribute("scope", "row");
      const unit = element("td", row.unit);
      unit.className = "unit";
      const cells = cellsOf(row, results).map((content: string) => {
        const cell = element("td", content);
        if (/[a-z]/i.test(content)) {
          cell.className = "failed";
          cell.title = content;
        }
        return cell;
      });
      line.append(head, unit, ...cells);
      return line;
    }),
  );
}

function showColumns(): void {
  const line = element("tr");
  for (const title of kColumns) {
    const cell = element("th", title === "" ? "what" : title);
    cell.setAttribute("scope", "col");
    line.append(cell);
  }
  byId("columns").replaceChildren(line);
}

function showAdapter(lines: Adapter["lines"]): void {
  byId("adapter").replaceChildren(
    ...lines.flatMap(([title, content]) => [element("dt", title), element("dd", content)]),
  );
}

function element(tag: string, content = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = content;
  return made;
}

async function start(): Promise<void> {
  // What scrolls can be reached by keyboard.
  byId("table").tabIndex = 0;
  showColumns();
  const adapter = await describeAdapter((navigator as { gpu?: GPU }).gpu);
  if (adapter === null) {
    byId("status").textContent =
      "This browser offers no WebGPU adapter: try a recent Chrome, Edge, Safari or Firefox on a device with a GPU.";
    return;
  }
  const size = sizeFor(adapter);
  const rows = rowsOf(size);
  showAdapter(adapter.lines);
  showResults(rows, {});
  byId("status").textContent = adapter.isSoftware
    ? "This adapter computes on the CPU, so that sizes are small and the figures say little about a GPU."
    : "";
  run.disabled = false;
  run.addEventListener("click", () => (worker ? stop() : void measureAll(adapter, rows, size)));
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    byId("copied").textContent = "Copied.";
  });
}

await start();
