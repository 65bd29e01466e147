// The built site on two servers, a browser, and pages that collect all their errors.

import { kIsolation } from "../../../scripts/isolation.mjs";
import { serveFolder } from "../../../scripts/serve_folder.mjs";
import { startChromium } from "../../browser/support/chromium.mjs";
import { complaintsOf, kSite, noSite } from "./pages.mjs";

/** The two servers: with the headers for cross-origin isolation, and without. */
export const kKinds = ["isolated", "plain"];

// What a page that may hang shows is asked only for so long.
const kShortly = 5000; // ms

/** The longest time in ms that a page's thread may be busy without a pause. */
export const kLongestTask = 100;

/**
 * Serves the site twice below a path, as many servers do, and starts Chromium with additional arguments. Returns { isolated,
 * plain, browser, stop }; the first two are addresses.
 */
export async function startSite(chromiumArguments = []) {
  if (noSite) throw new Error(noSite);
  const serve = (headers) => serveFolder(kSite, { base: "/some/path/", headers });
  const [isolated, plain, browser] = await Promise.all([
    serve(kIsolation),
    serve({}),
    startChromium(chromiumArguments),
  ]);
  const stop = async () => {
    await browser.close();
    isolated.stop();
    plain.stop();
  };
  return { isolated: isolated.url, plain: plain.url, browser, stop };
}

/** Opens a page without service workers, so that only the server decides; `problems` are its errors so far. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ serviceWorkers: "block", ...options });
  const page = await context.newPage();
  const problems = complaintsOf(page);
  await page.goto(url);
  return { page, problems, close: () => context.close() };
}

/**
 * Waits until a page is isolated. A server without headers leaves that to the service worker, which adds them after a reload. Then the
 * page's scripts have run, and notice a visitor.
 */
export async function untilIsolated(page) {
  await page.waitForFunction(() => crossOriginIsolated);
  await page.waitForLoadState("load");
}

/** Waits until the text of an element fits a pattern; returns the text. */
export async function untilText(page, selector, pattern) {
  const fits = ([selector, source]) =>
    new RegExp(source).test(document.querySelector(selector)?.textContent);
  await until(page, selector, pattern, fits, pattern.source);
  return page.textContent(selector);
}

/** Waits until the label of a chart, which is drawn a little after its points have arrived, fits a pattern. */
export async function untilLabel(page, selector, pattern) {
  const fits = ([selector, source]) =>
    new RegExp(source).test(document.querySelector(selector)?.getAttribute("aria-label"));
  await until(page, selector, pattern, fits, pattern.source);
}

/** Waits until the number in an element is at least `least`; returns it. */
export async function untilNumber(page, selector, least) {
  const reaches = ([selector, least]) =>
    Number.parseFloat(document.querySelector(selector).textContent.replaceAll(",", "")) >= least;
  await until(page, selector, `number from ${least}`, reaches, least);
  return numberIn(page, selector);
}

async function until(page, selector, missing, fits, given) {
  try {
    await page.waitForFunction(fits, [selector, given]);
  } catch (error) {
    const shown = await page.locator("body").innerText({ timeout: kShortly }).catch(String);
    throw new Error(`no ${missing} in ${selector}: ${error.message} The page shows:\n${shown}`);
  }
}

/** The number in an element. */
export async function numberIn(page, selector) {
  return Number.parseFloat((await page.textContent(selector)).replaceAll(",", ""));
}

/**
 * Observes the tasks of the page's thread while `work` runs; returns the longest one in ms, in CPU time and in wall-clock time.
 * CPU time counts only the page's work; wall-clock time also includes other processes on a busy machine.
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
