// The built site on a server, and pages of it with everything that goes wrong in them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const kConfig = fileURLToPath(new URL("../../../demos/site/vite.config.mjs", import.meta.url));
const kNoIsolation = { "Cross-Origin-Opener-Policy": "", "Cross-Origin-Embedder-Policy": "" };

/** How the two addresses of a site differ. */
export const kKinds = ["isolated", "plain"];

/** The longest that the page's thread may be busy at a stretch, in ms. */
export const kLongestTask = 100;

/** Builds the site into a folder of its own and serves it twice: { isolated, plain, stop }, the first two addresses. */
export async function startSite() {
  const outDir = mkdtempSync(join(tmpdir(), "edgegrad-site-"));
  const options = { configFile: kConfig, logLevel: "error" };
  await build({ ...options, build: { outDir, emptyOutDir: true } });
  const serve = (headers) =>
    preview({ ...options, build: { outDir }, preview: { port: 0, headers } });
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
  // A page that its server does not isolate stays so: coi-serviceworker asks this.
  await page.addInitScript(() => {
    globalThis.coi = { shouldRegister: () => false };
  });
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}

/** Waits until the text of an element fulfils a condition, which is evaluated in the page; returns the text. */
export async function untilText(page, selector, pattern) {
  const fits = ([selector, source]) =>
    new RegExp(source).test(document.querySelector(selector)?.textContent);
  await page.waitForFunction(fits, [selector, pattern.source], { timeout: 30_000 });
  return page.textContent(selector);
}

/** Waits until the number in an element is at least `least`; returns it. */
export async function untilNumber(page, selector, least) {
  const reaches = ([selector, least]) =>
    Number.parseFloat(document.querySelector(selector).textContent.replaceAll(",", "")) >= least;
  await page.waitForFunction(reaches, [selector, least], { timeout: 30_000 });
  return numberIn(page, selector);
}

/** The number in an element. */
export async function numberIn(page, selector) {
  return Number.parseFloat((await page.textContent(selector)).replaceAll(",", ""));
}

/**
 * Watches the tasks of the page's thread while `work` runs; returns the longest in ms, by the processor's time and by the
 * clock. The first is what the page does; the second also counts what others do on a busy machine.
 */
export async function longestTask(browser, page, work) {
  await browser.startTracing(page, { categories: ["toplevel"] });
  await work();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const threads = traceEvents
    .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
    .map(threadOf);
  const tasks = traceEvents.filter(
    (event) => event.name === "ThreadControllerImpl::RunTask" && threads.includes(threadOf(event)),
  );
  if (tasks.length === 0) throw new Error("the trace has no tasks of the page");
  const longest = (key) => tasks.reduce((most, task) => Math.max(most, task[key] ?? 0), 0) / 1000;
  return { processor: longest("tdur"), clock: longest("dur") };
}

function threadOf({ pid, tid }) {
  return `${pid}:${tid}`;
}
