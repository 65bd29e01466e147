// A page whose training is interrupted: by a laptop that sleeps, and by a visit to another page. It goes on where it was.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises"; // timer: the machine sleeps
import { noBrowser } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

const kSleep = 1500; // ms
const kSomeSteps = 20;

describe("training that is interrupted", { skip: noBrowser }, () => {
  // The tools for tests switch this cache off.
  const suite = useProject([], ["--disable-back-forward-cache"]);

  async function open(headers) {
    const server = await suite.serve(suite.project.folder, headers);
    const page = await suite.browser.newPage();
    const failures = [];
    page.on("pageerror", (error) => failures.push(String(error)));
    await page.goto(`${server.url}interrupted.html`);
    await untilSteps(page, kSomeSteps);
    return { page, failures, server };
  }

  const stepsOf = (page) => page.evaluate(() => globalThis.steps);

  const untilSteps = (page, count) =>
    page.waitForFunction((count) => globalThis.steps >= count, count);

  async function assertGoesOn({ page, failures }, before) {
    await untilSteps(page, before + kSomeSteps);
    assert.deepEqual(failures, []);
    assert.equal(await page.evaluate(() => losses.at(-1) < losses[0]), true);
    await page.close();
  }

  for (const [what, headers] of Object.entries({ threads: kIsolation, "one thread": {} })) {
    test(`goes on when the machine has slept: ${what}`, async () => {
      const opened = await open(headers);
      const before = await stepsOf(opened.page);
      const session = await suite.browser.newBrowserCDPSession();
      const { processInfo } = await session.send("SystemInfo.getProcessInfo");
      const renderers = processInfo.filter(({ type }) => type === "renderer");
      for (const { id } of renderers) process.kill(id, "SIGSTOP");
      await sleep(kSleep);
      for (const { id } of renderers) process.kill(id, "SIGCONT");
      await assertGoesOn(opened, before);
    });
  }

  test("goes on when the user comes back to the page", async () => {
    const opened = await open({});
    const { page, server } = opened;
    await page.evaluate(() => {
      globalThis.shown = [];
      addEventListener("pageshow", ({ persisted }) => globalThis.shown.push(persisted));
      // The browser stops the page, which it keeps.
      document.addEventListener("freeze", () => localStorage.setItem("frozen", "yes"));
    });
    const before = await stepsOf(page);
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction(() => localStorage.getItem("frozen") === "yes");
    // The page is not loaded again, so there is no such event to wait for.
    await page.evaluate(() => history.back());
    await page.waitForURL("**/interrupted.html", { waitUntil: "commit" });
    await untilSteps(page, before);
    assert.deepEqual(await page.evaluate(() => globalThis.shown), [true]);
    await assertGoesOn(opened, before);
  });
});
