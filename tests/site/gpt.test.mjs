// The page of the small GPT: it trains, generates text, is saved, and continues after a reload.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kWebGpu, noBrowser } from "../browser/support/chromium.mjs";
import {
  kLongestTask,
  longestTask,
  numberIn,
  openPage,
  startSite,
  untilLabel,
  untilNumber,
  untilText,
} from "./support/site.mjs";

const kPage = "gpt/index.html";

describe("the small GPT", { skip: noBrowser }, () => {
  let site;
  let browser;
  before(async () => {
    site = await startSite(kWebGpu);
    ({ browser } = site);
  });
  after(() => site?.stop());

  for (const [kind, runtime] of [
    ["isolated", /threads?, relaxed SIMD/],
    ["plain", /not cross-origin isolated/],
  ]) {
    test(`learns and goes on after a reload, ${kind}`, async () => {
      const { page, problems, close } = await openPage(browser, site[kind] + kPage);
      await startAnew(page);
      await page.click("#run");
      await stepIs(page, 20);
      const { processor } = await longestTask(browser, page, () => stepIs(page, 60));
      assert.ok(processor < kLongestTask, `a task of ${processor} ms`);
      assert.match(await page.textContent("#runtime"), runtime);
      assert.match(await page.textContent("#samples li p"), /^Call me./s);
      assert.ok((await numberIn(page, "#rate")) > 0);
      await stop(page);
      const loss = await numberIn(page, "#held-out");
      assert.ok(loss < 3.5, `loss ${loss}`);
      assert.match(await page.textContent("#status"), /after a reload, training resumes/);
      const stopped = await numberIn(page, "#step");

      await page.reload();
      await untilText(page, "#status", /^Saved on an earlier visit/);
      assert.equal(await numberIn(page, "#held-out"), loss);
      await page.evaluate(keepSteps);
      await page.click("#run");
      await stepIs(page, stopped + 1);
      const [first] = await page.evaluate(() => globalThis.keptSteps);
      assert.equal(first, stopped, "did not begin anew");
      await stop(page);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("opens with a model that has learned, and goes on with it", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    await untilText(page, "#status", /^This model comes with the page/);
    assert.ok((await untilNumber(page, "#step", 1)) >= 1000);
    await untilLabel(page, "#loss", /train 1\.\d+, held out 1\.\d+/);
    assert.match(await page.textContent("#samples li p"), /^Call me./s);
    const shipped = await numberIn(page, "#step");
    await page.click("#run");
    await stepIs(page, shipped + 20);
    await stop(page);
    assert.ok((await numberIn(page, "#held-out")) < 1.8);
    assert.deepEqual(problems, []);
    await close();
  });

  test("writes from a prompt, at a temperature, and starts anew", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    await page.fill("#prompt", "The whale ");
    await page.locator("#temperature").fill("0.1");
    await page.press("#prompt", "Enter");
    await untilText(page, "#samples p", /^The whale .{20}/s);
    assert.equal(await page.textContent("#temperature-value"), "0.1");
    // The training can be neither started nor stopped meanwhile: what writes has a stop of its own.
    assert.equal(await page.textContent("#run"), "Train");
    await stop(page, "#write");
    await startAnew(page);
    await page.click("#run");
    await stepIs(page, 1);
    await stop(page);
    await startAnew(page);
    await page.reload();
    await untilText(page, "#status", /^This model comes with the page/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns on WebGPU", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    await page.waitForFunction(() => document.getElementById("device").length > 1);
    await page.selectOption("#device", "webgpu");
    const shipped = await untilNumber(page, "#step", 1);
    await page.click("#run");
    await stepIs(page, shipped + 2);
    assert.match(await page.textContent("#runtime"), /WebGPU/);
    await stop(page);
    assert.deepEqual(problems, []);
    await close();
  });
});

// Runs in the page: keeps all numbers of steps that it shows from now on.
function keepSteps() {
  globalThis.keptSteps = [];
  const step = document.getElementById("step");
  new MutationObserver(() => {
    globalThis.keptSteps.push(Number(step.textContent.replaceAll(",", "")));
  }).observe(step, { childList: true });
}

function stepIs(page, least) {
  return untilNumber(page, "#step", least);
}

async function startAnew(page) {
  await page.waitForSelector("#anew:enabled");
  await page.click("#anew");
  await untilText(page, "#step", /^0$/);
  await untilText(page, "#status", /^Random weights/);
}

// The work may end at any time, and a click would then start it again: the page itself clicks if it still works.
async function stop(page, selector = "#run") {
  await page.locator(selector).evaluate((button) => {
    if (/Stop/.test(button.textContent)) button.click();
  });
  await untilText(page, selector, /^(Train|Write)$/);
  await page.waitForSelector("#run:enabled");
}
