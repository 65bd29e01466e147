// Writes the lists of ops, speeds, kernels and messages into docs/generated, for the site and the package. They follow from the sources and
// from runs of all ops, so git ignores them. `node scripts/docs/lists.mjs` needs a dist/, and writes them if what they follow from has changed.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { messagePage } from "../checks/messages.mjs";
import { kRoot, main, quiet, step } from "../process.mjs";
import { keepRun, keptRun, stateOfOps } from "./op_runs.mjs";

/** The lists, in the order of the site. */
export const kLists = ["ops", "speed", "kernels", "messages"];

const kFolder = join(kRoot, "docs", "generated");
const kReportsOnly = "--reports";
const kStamp = join(kRoot, "build", "lists.sha256");

/** Returns the path of a list. */
export const listPath = (name) => join(kFolder, `${name}.md`);

/** Returns the texts of the lists that no op has to run for. */
export async function quickLists() {
  const { kSweepResults, speedPage } = await import("../../tests/bench/sweep/page.mjs");
  const { kernelPage } = await import("../../tests/webgpu/support/kernel_page.mjs");
  const sweep = JSON.parse(readFileSync(join(kRoot, kSweepResults), "utf8"));
  return { speed: speedPage(sweep), kernels: kernelPage(), messages: messagePage() };
}

// Imported here because these load the package, which may not have been built before. Runs of all ops that tests have kept are taken;
// otherwise, the device waits for its answers two thirds of the time, so the CPU's run is made meanwhile, in a process of its own.
async function opList() {
  const reports = reportsOfCpu();
  const cells = (await keptRun("device")) ?? (await cellsOfDevice());
  const { opPage } = await import("../../tests/js/support/op_page.mjs");
  const { reasonTable } = await import("../../tests/webgpu/support/on_the_cpu.mjs");
  return opPage(await reports, cells && { cells, onTheCpu: reasonTable() });
}

// Null without a device.
async function cellsOfDevice() {
  // Imported first, because it starts the engine with the device.
  const device = await import("../../tests/webgpu/support/op_page_cells.mjs");
  if (!device.missing) return device.makeCells();
  console.log(`  no device, so ops.md lacks its column: ${device.missing}`);
  return null;
}

async function reportsOfCpu() {
  const kept = await keptRun("cpu");
  if (kept) return kept;
  await quiet(process.execPath, [fileURLToPath(import.meta.url), kReportsOnly], { cwd: kRoot });
  return keptRun("cpu");
}

async function writeReports() {
  const { reportOps } = await import("../../tests/js/support/op_report.mjs");
  await keepRun("cpu", reportOps());
}

async function writeAll() {
  mkdirSync(kFolder, { recursive: true });
  const texts = await quickLists();
  for (const [name, text] of Object.entries(texts)) writeFileSync(listPath(name), text);
  const state = await stateOfOps();
  const isSame = existsSync(kStamp) && readFileSync(kStamp, "utf8") === state;
  if (isSame && existsSync(listPath("ops"))) return;
  writeFileSync(listPath("ops"), await opList());
  mkdirSync(dirname(kStamp), { recursive: true });
  writeFileSync(kStamp, state);
}

/** Writes the lists, in a process of its own, in which the engine runs with its device. */
export function writeLists() {
  return step("lists of ops, speeds, kernels and messages", () =>
    quiet(process.execPath, [fileURLToPath(import.meta.url)], { cwd: kRoot }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main(process.argv[2] === kReportsOnly ? writeReports : writeAll);
