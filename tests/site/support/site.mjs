// The built site on a server, and pages of it with everything that goes wrong in them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const kConfig = fileURLToPath(new URL("../../../demos/site/vite.config.mjs", import.meta.url));
const kNoIsolation = { "Cross-Origin-Opener-Policy": "", "Cross-Origin-Embedder-Policy": "" };

/** Builds the site into a folder of its own and serves it twice: { isolated, plain, stop }, the first two addresses. */
export async function startSite() {
  const outDir = mkdtempSync(join(tmpdir(), "edgegrad-site-"));
  await build({ configFile: kConfig, logLevel: "error", build: { outDir, emptyOutDir: true } });
  const serve = (headers) =>
    preview({
      configFile: kConfig,
      logLevel: "error",
      build: { outDir },
      preview: { port: 0, headers },
    });
  const servers = [await serve({}), await serve(kNoIsolation)];
  const [isolated, plain] = servers.map((server) => server.resolvedUrls.local[0]);
  const stop = async () => {
    await Promise.all(servers.map((server) => server.close()));
    rmSync(outDir, { recursive: true });
  };
  return { isolated, plain, stop };
}

/** Opens a page; `problems` are its console errors, uncaught errors and failed requests, so far. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.stack));
  page.on("requestfailed", (request) => problems.push(`${request.url()} failed`));
  await page.addInitScript(() => {
    // A page that its server does not isolate stays so: coi-serviceworker asks this.
    globalThis.coi = { shouldRegister: () => false };
    globalThis.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
    }).observe({ type: "longtask" });
  });
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}

/** Forgets the long tasks so far, such as those of loading. */
export function forgetLongTasks(page) {
  return page.evaluate(() => {
    globalThis.longTasks.length = 0;
  });
}

/** The longest task of the page's thread, in ms; 0 where none took 50 ms. */
export function longestTask(page) {
  return page.evaluate(() => Math.max(0, ...globalThis.longTasks));
}

const kTries = 3;

/**
 * Does `work` and returns the longest task of the page's thread meanwhile, in ms. Where that is over the limit it tries again
 * and returns the shortest: other programs hold up a busy machine too, but not the same task three times.
 */
export async function longestTaskDuring(page, limit, work) {
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < kTries && shortest >= limit; i++) {
    await forgetLongTasks(page);
    await work();
    shortest = Math.min(shortest, await longestTask(page));
  }
  return shortest;
}
