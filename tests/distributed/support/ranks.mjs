// Groups of processes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const kProgram = fileURLToPath(new URL("rank_program.mjs", import.meta.url));

let runs = 0;
/** The options of a group that no other test uses. */
export function newGroup(servers, worldSize, more = {}) {
  return { servers, worldSize, run: `run${runs++}`, lostAfter: 2000, timeout: 20_000, ...more };
}

/** Starts one process. `ended` resolves to its last line { result } or { error }, or to null if it is killed. */
export function startRank(scenario, group, more = {}) {
  const child = spawn(process.execPath, [kProgram, JSON.stringify({ scenario, group, ...more })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A test that fails must not leave it behind.
  process.once("exit", () => child.kill("SIGKILL"));
  const lines = [];
  const waiting = [];
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  const ended = once(child, "close").then(([code]) => {
    for (const look of waiting) look();
    if (child.signalCode !== null) return null;
    if (code !== 0) throw new Error(`a rank ended with ${code}`);
    return lines.find(({ result, error }) => result !== undefined || error !== undefined) ?? null;
  });
  ended.catch(() => {});
  return {
    ended,
    /** Resolves to its result; rejects with its error. */
    async result() {
      const end = await ended;
      if (end?.error !== undefined) throw new Error(end.error.message);
      return end.result;
    },
    signal: (name) => child.kill(name),
    /** Resolves when the process has told of an event. */
    told: (event) =>
      new Promise((resolve) => {
        const look = () => {
          if (child.exitCode !== null || lines.some((line) => line.event === event)) resolve();
        };
        waiting.push(look);
        look();
      }),
    async kill() {
      child.kill("SIGKILL");
      await ended.catch(() => {});
    },
  };
}

/** Runs a scenario in all processes of a group; resolves to their results by rank. */
export async function runGroup(scenario, group, more = {}) {
  const ranks = Array.from({ length: group.worldSize }, (_, rank) =>
    startRank(scenario, { ...group, rank }, more),
  );
  await Promise.all(ranks.map(({ ended }) => ended));
  return Promise.all(ranks.map((rank) => rank.result()));
}
