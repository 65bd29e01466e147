// Test runners, whose modules are their own.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assertTrained, run } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const kProgram = "train.test.mjs";

const kCommands = {
  vitest: ["vitest.mjs", "run", "--globals"],
  jest: ["bin/jest.js", "--testMatch=**/*.test.mjs"],
};

// Jest takes modules from Node where that gives it what it needs.
const kNodeOptions = { jest: ["--experimental-vm-modules"], vitest: [] };

export const kRunnerRows = Object.entries(kCommands).map(([tool, [script, ...args]]) => ({
  id: tool,
  group: tool === "jest" ? "Jest" : "Vitest",
  title: tool === "jest" ? "with `node --experimental-vm-modules`" : "as it comes",
  version: () => versionOf(tool),
  async run({ projects }) {
    const folder = await projects.with(tool);
    const program = join(folder, "node_modules", tool, script);
    await run(folder, process.execPath, ...kNodeOptions[tool], program, ...args, kProgram);
    assertTrained(readFileSync(join(folder, "result.json"), "utf8"));
  },
}));
