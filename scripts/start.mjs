// npm start: sets up what is missing, builds, and trains the MNIST demo. Arguments after `--` go to the demo.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildWasm, buildWeb, nodeVariant } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { kRoot, main, signalStatus } from "./process.mjs";

const kDemo = join(kRoot, "demos", "mnist.mjs");

// Ctrl-C reaches the demo as well as this process: it saves and ends, and its status becomes ours.
function runDemo(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [kDemo, ...args], { stdio: "inherit" });
    process.on("SIGINT", () => {});
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signalStatus(signal)));
  });
}

await main(async () => {
  const args = process.argv.slice(2);
  if (!args.includes("--help") && !args.includes("-h")) {
    console.log("Setting up edgegrad");
    await ensureNodeModules();
    await buildWasm(nodeVariant());
    await buildWeb();
  }
  return runDemo(args);
});
