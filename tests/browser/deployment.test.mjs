// Pages in production form: below a path, with a strict content security policy, built by the tools that
// README.md names. Each page trains, and lets a worker train.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  buildWithEsbuild,
  buildWithVite,
  buildWithWebpack,
  copyFiles,
  copyWithImportMap,
} from "./support/bundlers.mjs";
import { noBrowser, startChromium } from "./support/chromium.mjs";
import { assertPageTrains, kPath, kPolicy } from "./support/deployed.mjs";
import { kIsolation, makeProject } from "./support/project.mjs";
import { serveFiles, serveWithVite } from "./support/servers.mjs";

describe("a deployed page", { skip: noBrowser }, () => {
  let browser;
  let project;
  const servers = [];

  before(async () => {
    project = makeProject();
    browser = await startChromium();
  });
  after(async () => {
    for (const server of servers) server.stop();
    await browser?.close();
    project?.remove();
  });

  async function assertWorks(folder, headers = kPolicy) {
    await assertWorksOn(await serveFiles(folder, { ...kIsolation, ...headers }, { base: kPath }));
  }

  async function assertWorksOn(server) {
    servers.push(server);
    const { inWorker } = await assertPageTrains(browser, server.url);
    assert.ok(inWorker);
  }

  test("of plain files", () => assertWorks(copyFiles(project.folder)));

  // The policy does not allow import maps, which are inline scripts.
  test("with an import map", () => assertWorks(copyWithImportMap(project.folder), {}));

  test("still in development, served by Vite", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertWorksOn(await serveWithVite(project.folder, args));
  });

  test("built by Vite", async () => assertWorks(await buildWithVite(project.folder, kPath)));

  test("built by webpack, without a warning", async () => {
    const { out, messages } = await buildWithWebpack(project.folder);
    assert.deepEqual(messages, []);
    await assertWorks(out);
  });

  test("built by esbuild", async () => assertWorks(await buildWithEsbuild(project.folder)));
});
