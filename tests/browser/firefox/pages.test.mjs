// Pages of the Chromium tests in Firefox: the engine starts, with and without threads, and trains.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertPageTrains } from "../support/deployed.mjs";
import { noFirefox, startFirefox } from "../support/firefox.mjs";
import { assertLosses } from "../support/losses.mjs";
import { resultOf } from "../support/pages.mjs";
import { kIsolation, makeProject } from "../support/project.mjs";
import { serveFiles } from "../support/servers.mjs";

const kThreaded = ["relaxed", "simd"];

describe("a page in Firefox", { skip: noFirefox }, () => {
  let browser;
  let project;
  let plain;
  let isolated;

  before(async () => {
    project = makeProject();
    [plain, isolated] = await Promise.all([
      serveFiles(project.folder),
      serveFiles(project.folder, kIsolation),
    ]);
    browser = await startFirefox();
  });
  after(async () => {
    for (const server of [plain, isolated]) server?.stop();
    await browser?.close();
    project?.remove();
  });

  test("trains on one thread", async () => {
    const { error, losses, runtime } = await resultOf(browser, plain.url);
    assert.equal(error, undefined);
    assert.deepEqual([runtime.variant, runtime.threads], ["single", 1]);
    assertLosses(losses);
  });

  test("with isolation headers trains with threads", async () => {
    const { error, losses, runtime } = await resultOf(browser, isolated.url);
    assert.equal(error, undefined);
    assert.ok(kThreaded.includes(runtime.variant), runtime.variant);
    assert.equal(runtime.threads, 2);
    assertLosses(losses);
  });

  for (const [what, answer] of Object.entries({
    "that answers 503": { status: 503 },
    "that breaks off": {
      headers: { "Content-Length": "1000" },
      content: "let x = ",
      isBroken: true,
    },
  })) {
    test(`starts at the second or third attempt after a server ${what}`, async () => {
      for (const count of [1, 2]) {
        let left = count;
        const isImport = ({ url, headers }) =>
          /edgegrad-\w+\.mjs/.test(url) && headers["sec-fetch-dest"] !== "empty";
        const fails = (request) => (isImport(request) && left-- > 0 ? answer : undefined);
        const server = await serveFiles(project.folder, {}, { answer: fails });
        const query = new URLSearchParams({ options: '{"threads":1}', retries: count });
        const { error, trained, failures } = await resultOf(
          browser,
          `${server.url}start.html?${query}`,
        );
        server.stop();
        assert.deepEqual([error, trained, failures.length], [undefined, true, count]);
      }
    });
  }

  test("draws while backwardAsync() runs", async () => {
    const query = new URLSearchParams({ options: '{"threads":2}' });
    const result = await resultOf(browser, `${isolated.url}start.html?${query}`);
    assert.equal(result.error, undefined);
    assert.equal(result.trained, true);
    assert.deepEqual(result.warnings, []);
    assert.ok(result.frames > 0);
  });

  test("has hooks called on its own thread, and functions run in workers", async () => {
    const { turns, unresolved, lost, ...rest } = await resultOf(
      browser,
      `${isolated.url}threads.html`,
    );
    assert.match(lost, /^(Internal|InvalidArgument): \[spawn\]/);
    assert.match(unresolved, /^InvalidArgument: .*edgegrad.* Pass a Worker to spawn/);
    assert.deepEqual(rest, {
      hookRanHere: true,
      grad: [200, 200],
      ran: ["undefined", "undefined"],
      sum: Array(10).fill(3),
      error: "RangeError: in the worker",
    });
    assert.ok(turns > 0);
  });

  test("shares the engine's workers among many calls, and gives them back", async () => {
    assert.deepEqual(await resultOf(browser, `${isolated.url}pool.html`), {
      workers: 2,
      sum: 6000,
      leaves: 16,
      codes: ["InvalidArgument"],
      isNew: true,
      left: 0,
      alive: 2,
    });
  });

  test("has a worker of its own train the weights of the page", async () => {
    const { inWorker } = await assertPageTrains(browser, isolated.url);
    assert.ok(inWorker);
  });
});
