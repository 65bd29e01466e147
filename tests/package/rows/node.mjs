// Programs for Node.js and for other runtimes.

import { downloadedNode, newerNode } from "../../../scripts/machine/newer_node.mjs";
import { read } from "../../../scripts/process.mjs";
import { assertWeights } from "../../browser/support/losses.mjs";
import { assertTrained, run, runTool } from "../running.mjs";
import { kOldestNode, versionOf } from "../tools.mjs";

const kPrograms = {
  module: { title: "`import`", args: ["module.mjs"] },
  import: { title: "`import()` in CommonJS", args: ["import.cjs"] },
  require: { title: "`require`", args: ["require.cjs"] },
  thread: { title: "in a worker thread", args: ["in_thread.mjs"] },
  spawn: { title: "`spawn` on a worker thread", args: ["spawn.mjs"] },
  global: { title: "`spawn` on a global `Worker`", args: ["spawn.mjs", "global"] },
};

const kNodes = {
  oldest: () => downloadedNode(kOldestNode),
  this: () => process.execPath,
  middle: () => downloadedNode("22.23.3"),
  newer: newerNode,
};

const kRuntimes = {
  deno: { group: "Deno", command: ["run", "--allow-all"] },
  bun: { group: "Bun", command: ["run"] },
};

const kOwnWorkers = {
  reason: "its global `Worker` is that of web pages; import the one of `node:worker_threads`",
  error: /EdgeGradError \[\w+\]: \[(spawn|expose)\] .*node:worker_threads/,
};

const kRefused = {
  "node-oldest-require": {
    reason: "Node.js before 20.19 cannot `require` a module; use `import()`",
    error: /dynamic import\(\) which is available in all CommonJS modules[\s\S]*ERR_REQUIRE_ESM/,
  },
  "deno-global": kOwnWorkers,
  "bun-global": kOwnWorkers,
};

function rowsOf(name, row) {
  return Object.entries(kPrograms).map(([program, { title, args }]) => {
    const id = `${name}-${program}`;
    return { id, title, refused: kRefused[id], ...row(args) };
  });
}

const nodeRows = Object.entries(kNodes).flatMap(([name, find]) =>
  rowsOf(`node-${name}`, (args) => ({
    group: "Node.js",
    quick: name === "this",
    version: async () => read(await find(), ["--version"]).slice(1),
    async run({ projects }) {
      assertResult(await run(await projects.with(), await find(), ...args));
    },
  })),
);

const runtimeRows = Object.entries(kRuntimes).flatMap(([tool, { group, command }]) =>
  rowsOf(tool, (args) => ({
    group,
    version: () => versionOf(tool),
    async run({ projects }) {
      assertResult(await runTool(await projects.with(tool), tool, ...command, ...args));
    },
  })),
);

export const kNodeRows = [...nodeRows, ...runtimeRows];

function assertResult(output) {
  const { weights = [] } = assertTrained(output);
  assertWeights(weights);
}
