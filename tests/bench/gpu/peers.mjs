// npm run bench -- webgpu steps: what a training step costs on WebGPU in this package and in its peers, in the calls of WebGPU, which are
// counted outside of the libraries (counter.mjs). Models, starting weights and batches are the same; the batches are on the device before,
// and the loss is read after every step. Every contender runs in a process of its own.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { kContenders } from "../card/contenders.mjs";
import { loadContender } from "../card/measure.mjs";
import { rowsOf } from "../card/rows.mjs";
import { findAdapter } from "../card/run.mjs";
import { formatNumber } from "../report/format.mjs";
import { offerWebGpu } from "./adapter.mjs";
import { countedSoFar, kCounterOptions } from "./counts.mjs";
import { kLayered, kTrainers } from "./layered.mjs";

const kColumns = {
  dispatches: "dispatches",
  submits: "submits",
  bytesUp: "bytes up",
  bytesDown: "bytes down",
  buffers: "buffers",
  bindGroups: "bind groups",
  pipelines: "pipelines",
};

const kWarmUp = 5;
const kCountedSteps = 5;

const kTrainings = rowsOf("small").filter(({ kind }) => kind === "training");

/** Prints a line of JSON for every model: the counts per step. */
async function countHere(name) {
  await offerWebGpu();
  const library = await loadContender(name);
  const trainings = kTrainings.map(({ given: { title, task, batches } }) => ({
    title,
    start: () => library.training({ ...task, layers: task.layers() }, batches()),
  }));
  const { library: kind, options = {} } = kContenders[name];
  const train = kTrainers[kind];
  if (train !== undefined)
    for (const { name: model, title } of kLayered)
      trainings.push({ title, start: () => train(model, options) });
  for (const { title, start } of trainings) {
    const { step, loss } = await start();
    let at = 0;
    const run = async (times) => {
      for (let i = 0; i < times; ++i) {
        step(at++);
        await loss();
      }
    };
    await run(kWarmUp);
    const before = await countedSoFar();
    await run(kCountedSteps);
    const after = await countedSoFar();
    const counts = Object.keys(kColumns).map((id) => [
      id,
      (after[id] - before[id]) / kCountedSteps,
    ]);
    console.log(JSON.stringify({ title, counts: Object.fromEntries(counts) }));
  }
}

/** Runs this script in another process, which counts; returns {title: counts}. */
function countElsewhere(name) {
  const env = { ...process.env, NODE_OPTIONS: kCounterOptions };
  const given = [fileURLToPath(import.meta.url), name];
  const { stdout, stderr, status } = spawnSync(process.execPath, given, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${kContenders[name].title}: ${stderr}`);
  const lines = stdout.split("\n").filter((line) => line.startsWith('{"title"'));
  const found = lines.map((line) => JSON.parse(line));
  return Object.fromEntries(found.map(({ title, counts }) => [title, counts]));
}

/** Prints the table of all models and contenders. */
async function printPeers() {
  await findAdapter();
  const row = (cells) => console.log(`| ${cells.join(" | ")} |`);
  const names = Object.keys(kContenders).filter((name) => kContenders[name].library !== "plain");
  const counts = names.map(countElsewhere);
  row(["model", "", ...Object.values(kColumns)]);
  row(["---", "---", ...Object.keys(kColumns).map(() => "---:")]);
  for (const { title } of [...kTrainings, ...kLayered]) {
    for (const [i, name] of names.entries()) {
      if (counts[i][title] === undefined) continue;
      const cells = Object.keys(kColumns).map((id) => {
        const value = counts[i][title][id];
        return formatNumber(value, Number.isInteger(value) ? 0 : 1);
      });
      row([i === 0 ? title : "", kContenders[name].title, ...cells]);
    }
  }
}

const [name] = process.argv.slice(2);
if (process.env.NODE_OPTIONS === kCounterOptions) {
  await countHere(name);
  process.exit(0);
} else {
  await printPeers();
}
