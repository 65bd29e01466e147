// Runs a user's program and checks its output.

import { join } from "node:path";
import { quiet } from "../../scripts/process.mjs";
import { assertLosses } from "../browser/support/losses.mjs";

const kTimeout = 180_000;

/** Runs a command in a folder until it exits; returns its output. */
export function run(folder, command, ...args) {
  const env = { ...process.env, NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };
  return quiet(command, args, { cwd: folder, env, timeout: kTimeout });
}

/** Runs a command installed by a tool. */
export function runTool(folder, name, ...args) {
  return run(folder, join(folder, "node_modules", ".bin", name), ...args);
}

/** Asserts that the JSON line in a program's output has the same losses as PyTorch; returns it. */
export function assertTrained(output) {
  const line = output.split("\n").findLast((text) => text.startsWith("{"));
  if (line === undefined) throw new Error(`The program printed no result:\n${output}`);
  const result = JSON.parse(line);
  assertLosses(result.losses);
  return result;
}
