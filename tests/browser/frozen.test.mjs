// A page that the browser freezes, as it does with hidden ones and before a laptop sleeps: training stops, and then goes on.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { noBrowser } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { serveFiles } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

const kFrozen = 1500; // ms
const kPause = 50; // ms
const kSomeSteps = 20;

describe("training in a page that is frozen", { skip: noBrowser, timeout: 120_000 }, () => {
  const suite = useProject();

  for (const [what, headers] of Object.entries({ threads: kIsolation, "one thread": {} })) {
    test(`stops, and goes on afterwards: ${what}`, async () => {
      const server = await serveFiles(suite.project.folder, headers);
      suite.servers.push(server);
      const page = await suite.browser.newPage();
      const failures = [];
      page.on("pageerror", (error) => failures.push(String(error)));
      await page.goto(`${server.url}frozen.html`);
      const session = await page.context().newCDPSession(page);
      const read = async (expression) => {
        const { result } = await session.send("Runtime.evaluate", { expression });
        return result.value;
      };
      const until = async (count) => {
        while ((await read("steps")) < count) await sleep(kPause);
      };
      await until(kSomeSteps);
      await session.send("Page.setWebLifecycleState", { state: "frozen" });
      await sleep(kPause);
      const before = await read("steps");
      await sleep(kFrozen);
      assert.equal(await read("steps"), before);
      await session.send("Page.setWebLifecycleState", { state: "active" });
      await until(before + kSomeSteps);
      assert.deepEqual(failures, []);
      assert.equal(await read("losses.at(-1) < losses[0]"), true);
      await page.close();
    });
  }
});
