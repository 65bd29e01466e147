// The components of examples/frameworks, built with esbuild and trained in Chromium.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../../../scripts/process.mjs";
import { assertComponentTrains, kFrameworks } from "../../browser/support/frameworks.mjs";
import { versionOf } from "../tools.mjs";

export const kFrameworkRows = Object.entries(kFrameworks).map(([group, { program, tools }]) => ({
  id: program.replace(/\.\w+$/, ""),
  group: group.replace(/^a worker with /, ""),
  title: program === "comlink.js" ? "a training in a worker" : "a training in a component",
  version: () => versionOf(tools[0]),
  async run({ projects, browsers }) {
    const project = await projects.with(...tools);
    const folder = join(project, "frameworks");
    cpSync(join(kRoot, "examples", "frameworks"), folder, { recursive: true });
    const wasm = join(project, "node_modules", "edgegrad", "dist", "wasm");
    await assertComponentTrains(await browsers.start("chromium"), { folder, program, wasm });
  },
}));
