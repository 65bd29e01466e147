// Writes the lists of ops, speeds, kernels and messages into docs/generated, for the site and the package. They follow from the sources and
// from runs of all ops, so git ignores them. `node scripts/docs/lists.mjs` needs a dist/, and writes them if what they follow from has changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeVariant } from "../build.mjs";
import { messagePage } from "../checks/messages.mjs";
import { kRoot, main, quiet, step } from "../process.mjs";

/** The lists, in the order of the site. */
export const kLists = ["ops", "speed", "kernels", "messages"];

const kFolder = join(kRoot, "docs", "generated");
const kReports = join(kRoot, "build", "op_reports.json");
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

// Imported here because these load the package, which may not have been built before. The device waits for its answers two thirds of the
// time, so the CPU's reports are made meanwhile, in a process of their own.
async function opList() {
  const reports = reportsOfCpu();
  // Imported first, because it starts the engine with the device.
  const device = await import("../../tests/webgpu/support/op_page_parts.mjs");
  const { opPage } = await import("../../tests/js/support/op_page.mjs");
  if (device.missing) console.log(`  no device, so ops.md lacks its column: ${device.missing}`);
  const parts = device.missing ? null : device.makeParts();
  return opPage(await reports, parts);
}

async function reportsOfCpu() {
  await quiet(process.execPath, [fileURLToPath(import.meta.url), kReportsOnly], { cwd: kRoot });
  return JSON.parse(readFileSync(kReports, "utf8"));
}

async function writeReports() {
  const { reportOps } = await import("../../tests/js/support/op_report.mjs");
  mkdirSync(dirname(kReports), { recursive: true });
  writeFileSync(kReports, JSON.stringify(reportOps()));
}

/** Returns a hash of all that the list of ops follows from: the package, what runs it, and whether there is a device for it. */
async function stateOfOps() {
  const { preferSoftwareAdapter } = await import("../../tests/webgpu/support/software_adapter.mjs");
  const filesIn = (folder) =>
    readdirSync(join(kRoot, folder), { recursive: true })
      .filter((name) => name.endsWith(".mjs"))
      .sort()
      .map((name) => `${folder}/${name}`);
  const files = [
    "dist/index.js",
    `dist/wasm/edgegrad-${nodeVariant()}.wasm`,
    "dist/wasm/edgegrad-webgpu.js",
    ...filesIn("tests/js/support"),
    ...filesIn("tests/webgpu/support"),
  ];
  const hash = createHash("sha256").update(`${preferSoftwareAdapter()}`);
  for (const file of files) hash.update(readFileSync(join(kRoot, file)));
  return hash.digest("hex");
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
