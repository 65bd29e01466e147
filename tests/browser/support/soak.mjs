// Runs a page that trains on WebGPU for many steps (../page/soak.js) and checks that its memory use does not keep growing.

import { readFileSync } from "node:fs";
import { visit } from "./pages.mjs";

/** The time limits in milliseconds for the start and for a step, on a busy machine. */
const kMostTime = 60_000;
const kMostStepTime = 500;
/** Allows for a rare size that occurs for the first time. */
const kRareGrowth = 1.1;
/** Allows for memory cached by allocators. */
const kProcessGrowth = 1.2;

/**
 * Makes the page take its steps. Resolves to { reports, hasNumbers, messages, memory }: what it held at ten points, whether its
 * weights are numbers, the console messages, and the bytes of the browser's processes at these points. `onReport` is called
 * with each report.
 */
export async function soak(browser, server, run, onReport = () => {}) {
  const query = new URLSearchParams({ run: JSON.stringify(run) });
  const memory = [];
  const measure = async (text) => {
    memory.push(await memoryOf(browser));
    onReport(`${text}, ${(memory.at(-1) / 2 ** 20).toFixed(0)} MiB in the browser's processes`);
  };
  const timeout = kMostTime + run.steps * kMostStepTime;
  const { result, messages } = await visit(browser, `${server.url}soak.html?${query}`, {
    onReport: measure,
    timeout,
  });
  return { ...result, messages, memory };
}

// The bytes of all processes of the browser; shared memory pages are counted in each process.
async function memoryOf(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const kilobytes = processInfo.map(({ id }) => {
    const status = readFileSync(`/proc/${id}/status`, "utf8");
    return Number(/^RssAnon:\s*(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return 1024 * kilobytes.reduce((sum, value) => sum + value, 0);
}

/** Returns the problems of a run: a line for each quantity that grew and each console message. */
export function complaintsOf({ error, reports = [], hasNumbers, messages }) {
  if (error !== undefined) return [error, ...messages];
  const [first] = reports;
  const grown = ["cpuBytes", "gpuBytes", "jsHandles"].flatMap((what) =>
    reports
      .filter((report) => report[what] > first[what])
      .map(({ step, [what]: now }) => `${what} is ${now} at step ${step}, after ${first[what]}`),
  );
  return [...messages, ...grown, ...(hasNumbers ? [] : ["the weights are no numbers any more"])];
}

/** Like the function above, for a long run in which all sizes have occurred in the first half. */
export function lateGrowth({ reports = [], memory }) {
  const half = Math.floor(reports.length / 2) - 1;
  const last = reports.at(-1);
  const grown = ["gpuBuffers", "pipelines"].flatMap((what) => {
    const before = reports[half]?.[what];
    const complaint = `${what} went from ${before} to ${last?.[what]} in the second half`;
    return last?.[what] > kRareGrowth * before ? [complaint] : [];
  });
  const before = memory[Math.floor(memory.length / 2)];
  const complaint = `the browser's memory went from ${before} to ${memory.at(-1)} bytes`;
  return memory.at(-1) > kProcessGrowth * before ? [...grown, complaint] : grown;
}
