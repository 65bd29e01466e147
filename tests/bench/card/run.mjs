// Measures the graphics card in Node.js: every contender in a process of its own, one after the other. Without a card, the software
// renderer of Chromium is measured.

import { fileURLToPath } from "node:url";
import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";
import { runProgram } from "../runner.mjs";
import { kContenders } from "./contenders.mjs";
import { rowsOf } from "./rows.mjs";
import { resultText } from "./table.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Resolves to the description of the adapter. Processes that are started afterwards use the software renderer if there is no card. */
export async function findAdapter() {
  let adapter = null;
  const find = () =>
    runProgram(kChild, [], (message) => {
      ({ adapter } = message);
    });
  let failure = await find();
  if (adapter === null && preferSoftwareAdapter()) failure = await find();
  if (adapter !== null) return adapter;
  throw new Error(failure ?? "no adapter: WebGPU needs a driver for Vulkan, Metal or Direct3D 12");
}

/** Measures everything, prints the table, and calls `onProgress` with a text before each step. */
export async function measureCard({ size, onProgress }) {
  const adapter = await findAdapter();
  const chosen = size ?? (adapter.isSoftware ? "small" : "full");
  const rows = rowsOf(chosen);
  const results = {};
  for (const name of Object.keys(kContenders)) {
    const found = {};
    results[name] = found;
    onProgress(kContenders[name].title);
    const failure = await runProgram(kChild, [name, chosen], ({ id, ...result }) => {
      found[id] = result;
      onProgress(`${kContenders[name].title}: ${rows[id].title}`);
    });
    if (failure !== null) found.failure = failure;
  }
  onProgress("");
  console.log(resultText({ adapter, where: `Node ${process.versions.node}`, rows, results }));
}
