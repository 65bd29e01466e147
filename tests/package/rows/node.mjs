// Programs of Node and of the other runtimes beside it.

import { downloadedNode, newerNode } from "../../../scripts/newer_node.mjs";
import { read } from "../../../scripts/process.mjs";
import { assertWeights } from "../../browser/support/losses.mjs";
import { assertTrained, run, runTool } from "../running.mjs";
import { kOldestNode, versionOf } from "../tools.mjs";

const kPrograms = {
  import: "module.mjs",
  "import() in CommonJS": "import.cjs",
  require: "require.cjs",
  "in a worker thread": "in_thread.mjs",
  "a worker of one's own": "spawn.mjs",
};

const kNodes = {
  oldest: () => downloadedNode(kOldestNode),
  this: () => process.execPath,
  newer: newerNode,
};

// Node could not before 20.19.
const kRefused = {
  "oldest require": "Node before 20.19 cannot `require` a module; `import()` it",
};

function assertOutcome(output) {
  const { weights = [] } = assertTrained(output);
  assertWeights(weights);
}

const nodeRows = Object.entries(kNodes).flatMap(([name, find]) =>
  Object.entries(kPrograms).map(([title, program]) => ({
    id: `node-${name}-${program.split(".")[0]}`,
    group: "Node.js",
    title,
    quick: name === "this",
    refused: kRefused[`${name} ${title}`],
    version: async () => read(await find(), ["--version"]).slice(1),
    async run({ projects }) {
      assertOutcome(await run(await projects.with(), await find(), program));
    },
  })),
);

const kRuntimes = {
  deno: { group: "Deno", command: ["run", "--allow-all"] },
  bun: { group: "Bun", command: ["run"] },
};

const runtimeRows = Object.entries(kRuntimes).flatMap(([tool, { group, command }]) =>
  Object.entries(kPrograms).map(([title, program]) => ({
    id: `${tool}-${program.split(".")[0]}`,
    group,
    title,
    version: () => versionOf(tool),
    async run({ projects }) {
      assertOutcome(await runTool(await projects.with(tool), tool, ...command, program));
    },
  })),
);

export const kNodeRows = [...nodeRows, ...runtimeRows];
