// Pages built by bundlers, configured as README.md describes, served under a path with a strict content security policy and
// trained in Chromium.

import assert from "node:assert/strict";
import * as bundlers from "../../browser/support/bundlers.mjs";
import { assertPageTrains, kPath, kPolicy } from "../../browser/support/deployed.mjs";
import { kIsolation } from "../../browser/support/project.mjs";
import { serveFiles, serveWithVite } from "../../browser/support/servers.mjs";
import { versionOf } from "../tools.mjs";

const kBuilds = {
  Vite: { tools: ["vite"], build: (folder) => bundlers.buildWithVite(folder, kPath) },
  webpack: { tools: ["webpack"], build: buildWithWebpack },
  esbuild: { tools: ["esbuild"], build: bundlers.buildWithEsbuild },
  Rollup: {
    tools: ["rollup", "@rollup/plugin-node-resolve"],
    build: bundlers.buildWithRollup,
  },
  Parcel: { tools: ["parcel"], build: bundlers.buildWithParcel },
};

async function buildWithWebpack(folder) {
  const { out, messages } = await bundlers.buildWithWebpack(folder);
  assert.deepEqual(messages, []);
  return out;
}

const kBuildRows = Object.entries(kBuilds).map(([group, { tools, build }]) => ({
  id: tools[0],
  group,
  title: "built for a path with a strict CSP",
  version: () => versionOf(tools[0]),
  async run({ projects, browsers }) {
    const out = await build(await projects.with(...tools));
    const server = await serveFiles(out, { ...kIsolation, ...kPolicy }, { base: kPath });
    await assertTrainsIn(browsers, server);
  },
}));

const kViteRow = {
  id: "vite-development",
  group: "Vite",
  title: "in development",
  version: () => versionOf("vite"),
  async run({ projects, browsers }) {
    const folder = await projects.with("vite");
    const server = await serveWithVite(folder, ["--config", "isolated.config.mjs"]);
    await assertTrainsIn(browsers, server);
  },
};

async function assertTrainsIn(browsers, server) {
  try {
    await assertPageTrains(await browsers.start("chromium"), server.url);
  } finally {
    server.stop();
  }
}

export const kBundlerRows = [kViteRow, ...kBuildRows];
