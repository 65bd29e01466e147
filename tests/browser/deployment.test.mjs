// Pages in production form: below a path, with a strict content security policy, built by the tools that
// README.md names. Each page trains, and lets a worker train.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  buildWithEsbuild,
  buildWithVite,
  buildWithWebpack,
  copyFiles,
  copyWithImportMap,
} from "./support/bundlers.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { assertPageTrains, kPath, kPolicy } from "./support/deployed.mjs";
import { kIsolation } from "./support/project.mjs";
import { serveFiles, serveWithVite } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

describe("a deployed page", { skip: noBrowser }, () => {
  const suite = useProject();

  async function assertWorks(folder, headers = kPolicy) {
    await assertWorksOn(await serveFiles(folder, { ...kIsolation, ...headers }, { base: kPath }));
  }

  async function assertWorksOn(server) {
    suite.servers.push(server);
    const { inWorker } = await assertPageTrains(suite.browser, server.url);
    assert.ok(inWorker);
  }

  test("of plain files", () => assertWorks(copyFiles(suite.project.folder)));

  // The policy does not allow import maps, which are inline scripts.
  test("with an import map", () => assertWorks(copyWithImportMap(suite.project.folder), {}));

  test("still in development, served by Vite", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertWorksOn(await serveWithVite(suite.project.folder, args));
  });

  test("built by Vite", async () => assertWorks(await buildWithVite(suite.project.folder, kPath)));

  test("built by webpack, without a warning", async () => {
    const { out, messages } = await buildWithWebpack(suite.project.folder);
    assert.deepEqual(messages, []);
    await assertWorks(out);
  });

  test("built by esbuild", async () => assertWorks(await buildWithEsbuild(suite.project.folder)));
});
