// Measures the graphics card in Node.js: every contender in a process of its own, one after the other. Without a card, the software
// renderer of Chromium is measured.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";
import { errorIn } from "../runner.mjs";
import { kContenders } from "./contenders.mjs";
import { rowsOf } from "./rows.mjs";
import { resultText } from "./table.mjs";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Runs child.mjs; resolves to the reason why it ended early, or to null. */
function runChild(given, onMessage) {
  const child = fork(kChild, given, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let output = "";
  let isDone = false;
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output = (output + text).slice(-8000);
  });
  child.on("message", (message) => {
    if (message.isDone) isDone = true;
    else onMessage(message);
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      resolve(isDone ? null : (errorIn(output) ?? `exited with ${signal ?? code}`));
    });
  });
}

/** Resolves to the description of the adapter. Processes that are started afterwards use the software renderer if there is no card. */
export async function findAdapter() {
  let adapter = null;
  const find = () =>
    runChild([], (message) => {
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
    const failure = await runChild([name, chosen], ({ id, ...result }) => {
      found[id] = result;
      onProgress(`${kContenders[name].title}: ${rows[id].title}`);
    });
    if (failure !== null) found.failure = failure;
  }
  onProgress("");
  console.log(resultText({ adapter, where: `Node ${process.versions.node}`, rows, results }));
}
