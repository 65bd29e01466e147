// Test runners, which load modules in different ways.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assertTrained, run } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const kProgram = "train.test.mjs";

// Jest loads native modules only if Node.js is started with this option.
const kRunners = {
  vitest: {
    group: "Vitest",
    title: "by default",
    tools: ["vitest"],
    command: ["vitest/vitest.mjs", "run", "--globals"],
  },
  "vitest-happy-dom": {
    group: "Vitest",
    title: "in happy-dom",
    tools: ["vitest", "happy-dom"],
    command: ["vitest/vitest.mjs", "run", "--globals", "--environment", "happy-dom"],
  },
  jest: {
    group: "Jest",
    title: "with `node --experimental-vm-modules`",
    tools: ["jest"],
    nodeOptions: ["--experimental-vm-modules"],
    command: ["jest/bin/jest.js", "--testMatch=**/*.test.mjs"],
  },
};

export const kRunnerRows = Object.entries(kRunners).map(([id, runner]) => {
  const { group, title, tools, nodeOptions = [], command } = runner;
  const [script, ...args] = command;
  return {
    id,
    group,
    title,
    version: () => versionOf(tools[0]),
    async run({ projects }) {
      const folder = await projects.with(...tools);
      const program = join(folder, "node_modules", script);
      await run(folder, process.execPath, ...nodeOptions, program, ...args, kProgram);
      assertTrained(readFileSync(join(folder, "result.json"), "utf8"));
    },
  };
});
