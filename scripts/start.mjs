// npm start: installs what is missing, builds, and trains the MNIST demo. Arguments after `--` are passed to the demo.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildForNode } from "./build.mjs";
import { kRoot, main, signalStatus } from "./process.mjs";

const kDemo = join(kRoot, "demos", "mnist.mjs");

// Ctrl-C is also delivered to the demo, which saves its state and exits; its status becomes that of this process.
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
    await buildForNode();
  }
  return runDemo(args);
});
