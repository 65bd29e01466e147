import text from "../../../tests/bench/history.jsonl?raw";
import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { showComparisons } from "./comparison.js";
import { bestPeer, type Entry, groupBy, improvement, machineOf, parseHistory } from "./history.js";

const kNames: Readonly<Record<string, string>> = {
  tfjs: "tfjs-wasm",
  jax: "jax-js",
  jaxCompiled: "jax-js jit",
  torch: "PyTorch",
  tfjsGpu: "tfjs-webgpu",
  jaxGpu: "jax-js webgpu",
};
const kColors = ["series-2", "series-3", "series-4"];

const machine = byId<HTMLSelectElement>("machine");
const bench = byId<HTMLSelectElement>("bench");
const peers = byId<HTMLInputElement>("peers");
const machines = groupBy(parseHistory(text), machineOf);
let charts: LineChart[] = [];

function fill(select: HTMLSelectElement, options: Iterable<[value: string, title: string]>): void {
  const before = select.value;
  select.replaceChildren(...[...options].map(([value, title]) => new Option(title, value)));
  const isThere = [...select.options].some(({ value }) => value === before);
  if (isThere) select.value = before;
}

function showMachine(): void {
  const benches = groupBy(machines.get(machine.value) ?? [], ({ bench }) => bench);
  fill(
    bench,
    [...benches].map(([name, entries]) => [name, (entries.at(-1) as Entry).benchTitle]),
  );
  showBench();
}

function showBench(): void {
  const entries = (machines.get(machine.value) ?? []).filter(
    (entry) => entry.bench === bench.value,
  );
  const rows = [...groupBy(entries, ({ row }) => row).values()].reverse();
  for (const chart of charts) chart.remove();
  byId("charts").replaceChildren();
  charts = rows.map(showChart);
  byId("rows").replaceChildren(...rows.map(tableRow));
  const newest = entries.at(-1);
  if (newest) byId("about").textContent = describeRun(newest);
}

function describeRun({ date, commit, dirty, load }: Entry): string {
  const state = dirty ? " (not as that commit builds it from a clean checkout)" : "";
  return `${new Date(date).toLocaleString("en")}, commit ${commit.slice(0, 10)}${state}; load of the machine ${load}.`;
}

function tableRow(entries: readonly Entry[]): HTMLTableRowElement {
  const newest = entries.at(-1) as Entry;
  const before = entries.at(-2);
  const peer = bestPeer(newest);
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = newest.rowTitle;
  const cells = [
    withUnit(newest.ours, newest.unit),
    before ? changeText(improvement(newest, before)) : "",
    peer ? `${withUnit(peer.figure, newest.unit)} (${nameOf(peer.name)})` : "",
    newest.ratio === null ? "" : `${newest.ratio.toPrecision(3)}×`,
  ];
  row.append(head, ...cells.map(cell));
  return row;
}

function cell(content: string): HTMLTableCellElement {
  const element = document.createElement("td");
  element.textContent = content;
  return element;
}

const withUnit = (figure: number, unit: string) => `${figure.toLocaleString("en")} ${unit}`.trim();
const nameOf = (peer: string) => kNames[peer] ?? peer;

function changeText(percent: number): string {
  return `${Math.abs(percent).toFixed(1)} % ${percent < 0 ? "worse" : "better"}`;
}

function showChart(entries: readonly Entry[]): LineChart {
  const newest = entries.at(-1) as Entry;
  const card = document.createElement("section");
  card.className = "card";
  const heading = document.createElement("h2");
  heading.textContent = [newest.rowTitle, newest.unit].filter(Boolean).join(", ");
  const place = document.createElement("div");
  card.append(heading, place);
  byId("charts").append(card);
  const others = peers.checked
    ? [...new Set(entries.flatMap(({ peers }) => Object.keys(peers)))]
    : [];
  const chart = new LineChart(place, {
    label: `${newest.benchTitle}: ${newest.rowTitle}, by date`,
    x: "date",
    time: true,
    points: true,
    log: peers.checked,
    series: [
      { label: "edgegrad", color: "series-1" },
      ...others.map((name, i) => ({
        label: nameOf(name),
        color: kColors[i % kColors.length] as string,
      })),
    ],
  });
  for (const { date, ours, peers } of entries) {
    chart.push(Date.parse(date) / 1000, ours, ...others.map((name) => peers[name] ?? null));
  }
  return chart;
}

// What scrolls can be reached by keyboard.
byId("table").tabIndex = 0;

showComparisons();
byId("beside").hidden = false;

if (machines.size === 0) {
  byId("empty").hidden = false;
} else {
  // Shown once they are filled, so that nothing moves.
  for (const id of ["choices", "latest"]) byId(id).hidden = false;
  fill(
    machine,
    [...machines.keys()].map((name) => [name, name]),
  );
  machine.addEventListener("change", showMachine);
  bench.addEventListener("change", showBench);
  peers.addEventListener("change", showBench);
  showMachine();
}
