// Coordinators and clients in processes of their own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const programOf = (name) => fileURLToPath(new URL(`${name}_program.mjs`, import.meta.url));

/** Starts a coordinator. `result` resolves to its last line { history, weights }, or to null if it is killed. */
export function startCoordinator(options) {
  return start("coordinator", options);
}

/** Starts a client. */
export function startClient(options) {
  return start("client", options);
}

function start(program, options) {
  const child = spawn(process.execPath, [programOf(program), JSON.stringify(options)], {
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
