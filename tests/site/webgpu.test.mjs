// The pages with a choice of device, on WebGPU: isolated, where the device has its own thread, and plain, where it has none.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kWebGpu, noBrowser } from "../browser/support/chromium.mjs";
import { openDigits, stopTraining } from "./support/digits_page.mjs";
import { kKinds, numberIn, openPage, startSite, untilNumber, untilText } from "./support/site.mjs";

describe("a page on WebGPU", { skip: noBrowser }, () => {
  let site;
  let browser;

  before(async () => {
    site = await startSite(kWebGpu);
    ({ browser } = site);
  });
  after(() => site?.stop());

  for (const kind of kKinds) {
    test(`${kind}: learns digits from where the CPU was`, async () => {
      const { page, problems, close } = await openDigits(browser, site[kind]);
      await page.click("#run");
      await untilNumber(page, "#steps", 20);
      await stopTraining(page);
      const steps = await numberIn(page, "#steps");
      await page.selectOption("#device", "webgpu");
      await untilText(page, "#runtime", /^WebGPU/);
      assert.equal(await numberIn(page, "#steps"), steps);
      await page.click("#run");
      await untilNumber(page, "#steps", steps + 8);
      await stopTraining(page);
      assert.ok((await numberIn(page, "#loss-now")) < 2);
      assert.deepEqual(problems, []);
      await close();
    });

    test(`${kind}: divides the plane`, async () => {
      const { page, problems, close } = await openPage(
        browser,
        `${site[kind]}playground/index.html`,
      );
      await page.waitForSelector("#run:enabled");
      await page.selectOption("#device", "webgpu");
      await untilText(page, "#runtime", /^WebGPU/);
      await page.selectOption("#dataset", "gauss");
      await untilText(page, "#steps", /^0$/);
      await page.selectOption("#learning-rate", "0.1");
      await page.click("#run");
      await untilNumber(page, "#accuracy", 90);
      await page.click("#run");
      await untilText(page, "#run", /^Train$/);
      assert.deepEqual(problems, []);
      await close();
    });
  }
});
