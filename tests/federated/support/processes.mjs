// Coordinators in processes of their own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const kProgram = fileURLToPath(new URL("coordinator_program.mjs", import.meta.url));

/** Starts a coordinator. `result` resolves to its last line { history, weights }, or to null if it is killed. */
export function startCoordinator(options) {
  const child = spawn(process.execPath, [kProgram, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = [];
  let ready = () => {};
  const isReady = new Promise((resolve) => {
    ready = resolve;
  });
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line));
    ready();
  });
  const ended = once(child, "close").then(ready);
  const result = ended.then(() => lines.find(({ history }) => history !== undefined) ?? null);
  return {
    isReady,
    result,
    ended,
    signal: (name) => child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
