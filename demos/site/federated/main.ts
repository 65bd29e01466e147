import { byId, showError } from "../shared/frame.js";
import { keepForReload, keptForReload } from "../shared/kept.js";
import { LineChart } from "../shared/line_chart.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import { DeviceRow } from "./device_row.js";
import type { DeviceRound, Federation, Round } from "./federation.js";
import { kFinishedRounds } from "./finished/finished.js";
import { percent } from "./percent.js";

const kDigits = ["0, 1", "2, 3", "4, 5", "6, 7"];

const { trainer } = linkTrainer<Federation>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const run = byId<HTMLButtonElement>("run");
const progress = byId<HTMLProgressElement>("progress");
const isChecked = (id: string) => byId<HTMLInputElement>(id).checked;
const rows = kDigits.map((digits, i) => {
  const toggle = (isOnline: boolean) => trainer.setOnline(i, isOnline).catch(showError);
  return new DeviceRow(byId("devices"), i, digits, toggle);
});
let chart = makeChart();
let started: Promise<void> | null = null;
let isRunning = false;
const kKept = "federated";

function makeChart(): LineChart {
  return new LineChart(byId("accuracy"), {
    label: "Share of the test digits that are recognized, by round",
    x: "round",
    range: [0, 1],
    series: [
      { label: "together", color: "series-1" },
      { label: "best alone", color: "series-2" },
    ],
    height: 240,
  });
}

async function start(): Promise<void> {
  byId("status").textContent = "Loading the digits…";
  const folder = new URL("../digits/data/", document.baseURI).href;
  const share = proxy((loaded: number) => {
    progress.value = loaded;
  });
  byId("runtime").textContent = runtimeText(await trainer.start(folder, share), "cpu");
  byId("status").textContent = "";
}

function show(rounds: number, { round, together, alone, clients, bytes }: Round): void {
  progress.value = round / rounds;
  chart.push(round, together, Math.max(...alone));
  byId("round").textContent = String(round);
  byId("together").textContent = percent(together);
  for (const [i, row] of rows.entries()) row.show(alone[i] ?? 0, clients);
  byId("bytes").textContent =
    `${clients.length} devices have sent ${Math.round(bytes / 1000)} kB in this round, and no digit.`;
}

async function learn(): Promise<void> {
  isRunning = true;
  run.textContent = "Stop";
  try {
    chart.remove();
    byId("accuracy").replaceChildren();
    chart = makeChart();
    byId("round").textContent = "0";
    byId("together").textContent = "–";
    for (const id of ["status", "bytes"]) byId(id).textContent = "";
    started ??= start();
    await started;
    for (const row of rows) row.begin();
    const rounds = Number(byId<HTMLSelectElement>("rounds").value);
    const choice = {
      rounds,
      isSecure: isChecked("secure"),
      isCompressed: isChecked("compressed"),
    };
    const seen: Round[] = [];
    await trainer.run(
      choice,
      proxy((round: Round) => {
        show(rounds, round);
        seen.push(round);
      }),
    );
    keepForReload(kKept, seen);
  } finally {
    isRunning = false;
    run.textContent = "Learn together";
    for (const row of rows) row.end();
  }
}

/** The page of a run elsewhere: ?server=ws://...&run=... */
async function joinRun(server: string, name: string): Promise<void> {
  const button = byId<HTMLButtonElement>("join");
  button.disabled = true;
  const joined = byId("joined");
  try {
    started ??= start();
    await started;
    joined.textContent = "Waiting for the other browser…";
    const device = Number(byId<HTMLSelectElement>("device").value);
    const report = proxy(({ round, accuracy }: DeviceRound) => {
      joined.textContent = `round ${round}: ${percent(accuracy)} of the test digits`;
    });
    await trainer.joinRun(server, name, device, report);
    joined.textContent += " · the run has ended";
  } catch (error) {
    joined.textContent = "";
    button.disabled = false;
    throw error;
  }
}

// The last run of this tab, or else one that a program has recorded.
function showFinished(): void {
  const kept = keptForReload<Round[]>(kKept);
  const rounds = kept ?? kFinishedRounds;
  for (const row of rows) row.begin();
  for (const round of rounds) show(rounds.length, round);
  for (const row of rows) row.end();
  if (kept !== null) byId("status").textContent = "Your last run.";
}

run.addEventListener("click", () => {
  if (isRunning) return trainer.stop().catch(showError);
  return learn().catch(showError);
});

showFinished();
const given = new URLSearchParams(location.search);
const [server, name] = [given.get("server"), given.get("run")];
if (server !== null && name !== null) {
  byId("join-controls").hidden = false;
  byId("together-controls").hidden = true;
  for (const card of document.querySelectorAll<HTMLElement>(".local")) card.hidden = true;
  byId<HTMLSelectElement>("device").value = given.get("device") ?? "0";
  byId("how").textContent =
    `The run "${name}" at ${server} waits for two browsers. Choose other digits in each, and join.`;
  byId("join").addEventListener("click", () => joinRun(server, name).catch(showError));
}
