// The pages of the site, each of which trains for a short time in three browsers.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { kRoot, quiet } from "../../../scripts/process.mjs";
import { kIsolation, serveFolder } from "../../../scripts/serve_folder.mjs";
import { complaintsOf, hasSite, kSite } from "../../site/support/pages.mjs";
import { kBrowsers } from "./browsers.mjs";

const kTimeout = 120_000;
const kPause = 200;

// How to start a page, and how to tell that it has learned; both functions run in the page.
const kDemos = {
  start: {
    path: "index.html",
    learned: () => /^8000 0\.00/m.test(document.querySelector("[role=log]")?.innerText),
  },
  digits: {
    start: () => document.querySelector("#run:enabled")?.click(),
    learned: () => Number.parseFloat(document.getElementById("accuracy").textContent) > 85,
  },
  gpt: {
    start: () => document.getElementById("run").click(),
    learned: () => Number.parseFloat(document.getElementById("held-out").textContent) < 3.5,
  },
  engine_room: {
    learned: () => document.querySelectorAll("#graph .node[data-state=done]").length > 5,
  },
  hogwild: {
    start: () => {
      document.getElementById("steps").value = "1000";
      document.getElementById("run").click();
    },
    learned: () => document.querySelectorAll(".results tbody tr").length === 3,
  },
  playground: {
    start: () => document.querySelector("#run:enabled")?.click(),
    learned: () => Number.parseFloat(document.getElementById("accuracy").textContent) > 80,
  },
};

export const kDemoRows = Object.entries(kBrowsers).flatMap(([name, group]) =>
  Object.entries(kDemos).map(([demo, { path = `${demo}/index.html`, start, learned }]) => ({
    id: `${name}-demo-${demo}`,
    group,
    title: "the pages of `npm run site`",
    version: ({ browsers }) => browsers.versionOf(name),
    async run({ browsers }) {
      if (!hasSite()) await quiet(process.execPath, ["scripts/site.mjs"], { cwd: kRoot });
      const browser = await browsers.start(name);
      const server = await serveFolder(kSite, { headers: kIsolation });
      const page = await browser.newPage();
      const complaints = complaintsOf(page);
      try {
        await page.goto(server.url + path);
        // The button is disabled until the engine is ready.
        await until(page, () => document.getElementById("run")?.disabled !== true);
        if (start) await page.evaluate(start);
        await until(page, learned);
        assert.deepEqual(complaints, []);
      } finally {
        await page.close();
        server.stop();
      }
    },
  })),
);

// Waits until a condition holds in the page; throws if the page shows an error.
async function until(page, condition) {
  const end = performance.now() + kTimeout;
  while (performance.now() < end) {
    const alert = await page.evaluate(
      () => document.querySelector("#alert:not([hidden])")?.textContent,
    );
    if (alert) throw new Error(`the page shows an error: ${alert}`);
    if (await page.evaluate(condition)) return;
    await sleep(kPause);
  }
  const text = await page.evaluate(() => document.querySelector("main").innerText);
  throw new Error(`after ${kTimeout / 1000} s the page shows:\n${text}`);
}
