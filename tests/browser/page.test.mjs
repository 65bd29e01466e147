// A page trains a network: through Vite and from plain files, with threads and without.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser, startChromium } from "./support/chromium.mjs";
import { assertLosses } from "./support/losses.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation, makeProject } from "./support/project.mjs";
import { runVite, serveFiles, serveWithVite } from "./support/servers.mjs";

const kThreaded = { variant: "relaxed", threads: 2, crossOriginIsolated: true };
const kSingle = { variant: "single", threads: 1, crossOriginIsolated: false };

describe("a page", { skip: noBrowser }, () => {
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

  async function assertTrains(server, expected) {
    servers.push(server);
    const { error, losses, runtime } = await resultOf(browser, server.url);
    assert.equal(error, undefined);
    const { variant, threads, crossOriginIsolated } = runtime;
    assert.deepEqual({ variant, threads, crossOriginIsolated }, expected);
    assertLosses(losses);
  }

  test("served by Vite without configuration trains on one thread", async () => {
    await assertTrains(await serveWithVite(project.folder), kSingle);
  });

  test("served by Vite with isolation headers trains with threads", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertTrains(await serveWithVite(project.folder, args), kThreaded);
  });

  test("built by Vite without configuration trains with threads", async () => {
    const output = await runVite(project.folder, ["build"]);
    assert.doesNotMatch(output, /externalized|warn/i);
    const args = ["preview", "--config", "isolated.config.mjs"];
    await assertTrains(await serveWithVite(project.folder, args), kThreaded);
  });

  test("of plain files trains on one thread", async () => {
    await assertTrains(await serveFiles(project.folder), kSingle);
  });

  test("of plain files with isolation headers trains with threads", async () => {
    await assertTrains(await serveFiles(project.folder, kIsolation), kThreaded);
  });

  // Traps 24a and 24b: threads start and hooks are called while the page's own thread continues.
  async function assertThreads(server) {
    servers.push(server);
    const result = await resultOf(browser, `${server.url}threads.html`);
    const { turns, unresolved, lost, ...rest } = result;
    assert.match(lost, /^Internal: \[spawn\] .* could not be loaded .*import map/);
    assert.match(unresolved, /^InvalidArgument: .*edgegrad.* Pass a Worker to spawn/);
    assert.deepEqual(rest, {
      hookRanHere: true,
      grad: [200, 200],
      ran: ["undefined", "undefined"],
      sum: Array(10).fill(3),
      error: "RangeError: in the worker",
    });
    assert.ok(turns > 0, `the page drew ${turns} frames meanwhile`);
  }

  test("of plain files calls backward and workers beside its own thread", async () => {
    await assertThreads(await serveFiles(project.folder, kIsolation));
  });

  test("served by Vite calls backward and workers beside its own thread", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertThreads(await serveWithVite(project.folder, args));
  });

  test("in plain code that returns to the event loop stays flat", async () => {
    const server = await serveFiles(project.folder);
    servers.push(server);
    const { peak } = await resultOf(browser, `${server.url}memory.html`);
    // 3000 MiB of tensors were made.
    assert.ok(peak < 1500, `${Math.round(peak)} MiB were alive at once`);
  });
});
