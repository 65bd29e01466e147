// A page trains a network: through Vite and from plain files, with threads and without.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { assertLosses } from "./support/losses.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { runVite, serveFiles, serveWithVite } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

const kThreaded = { variant: "relaxed", threads: 2, crossOriginIsolated: true };
const kSingle = { variant: "single", threads: 1, crossOriginIsolated: false };

describe("a page", { skip: noBrowser }, () => {
  const suite = useProject();

  async function assertTrains(server, expected) {
    suite.servers.push(server);
    const { error, losses, runtime } = await resultOf(suite.browser, server.url);
    assert.equal(error, undefined);
    const { variant, threads, crossOriginIsolated } = runtime;
    assert.deepEqual({ variant, threads, crossOriginIsolated }, expected);
    assertLosses(losses);
  }

  test("served by Vite without configuration trains on one thread", async () => {
    await assertTrains(await serveWithVite(suite.project.folder), kSingle);
  });

  test("served by Vite with isolation headers trains with threads", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertTrains(await serveWithVite(suite.project.folder, args), kThreaded);
  });

  test("built by Vite without configuration trains with threads", async () => {
    const output = await runVite(suite.project.folder, ["build"]);
    assert.doesNotMatch(output, /externalized|warn/i);
    const args = ["preview", "--config", "isolated.config.mjs"];
    await assertTrains(await serveWithVite(suite.project.folder, args), kThreaded);
  });

  test("of plain files trains on one thread", async () => {
    await assertTrains(await serveFiles(suite.project.folder), kSingle);
  });

  test("of plain files with isolation headers trains with threads", async () => {
    await assertTrains(await serveFiles(suite.project.folder, kIsolation), kThreaded);
  });

  // rule: page-not-blocked, hooks-on-their-thread
  async function assertThreads(server) {
    suite.servers.push(server);
    const result = await resultOf(suite.browser, `${server.url}threads.html`);
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
    await assertThreads(await serveFiles(suite.project.folder, kIsolation));
  });

  test("served by Vite calls backward and workers beside its own thread", async () => {
    const args = ["--config", "isolated.config.mjs"];
    await assertThreads(await serveWithVite(suite.project.folder, args));
  });

  test("in plain code that returns to the event loop stays flat", async () => {
    const server = await suite.serve(suite.project.folder);
    const { peak } = await resultOf(suite.browser, `${server.url}memory.html`);
    // 3000 MiB of tensors were made.
    assert.ok(peak < 1500, `${Math.round(peak)} MiB were alive at once`);
  });
});
