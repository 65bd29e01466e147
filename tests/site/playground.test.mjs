// The playground: a network that is rebuilt while it trains, and a visitor's own code.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import {
  kKinds,
  kLongestTask,
  longestTask,
  numberIn,
  openPage,
  startSite,
  untilLabel,
  untilNumber,
  untilText,
} from "./support/site.mjs";

describe("the playground", { skip: noBrowser }, () => {
  let site;
  let browser;

  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  async function open(kind) {
    const opened = await openPage(browser, `${site[kind]}playground/index.html`);
    await opened.page.waitForSelector("#run:enabled");
    return opened;
  }

  const press = (page, label) => page.click(`[aria-label="${label}"]`);
  const neurons = (page) => page.locator('.unit[aria-label*="neuron"]').count();

  // A hash of the picture that a canvas shows.
  const picture = (page, selector) =>
    page.locator(selector).evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.reduce((hash, value) => (hash * 31 + value) % 1_000_003, 0);
    });

  for (const kind of kKinds) {
    test(`${kind}: learns the spiral and stays responsive`, async (t) => {
      const { page, problems, close } = await open(kind);
      // It opens with a network that has learned.
      await untilNumber(page, "#accuracy", 90);
      await untilLabel(page, "#loss", /training 0\.0.*, test 0\./);
      await page.click("#reset");
      await untilText(page, "#steps", /^0$/);
      const first = await picture(page, "#plane");
      const { processor, clock } = await longestTask(browser, page, async () => {
        await page.click("#run");
        await untilNumber(page, "#accuracy", 90);
      });
      t.diagnostic(`longest task ${processor} ms, ${clock} ms by the clock`);
      assert.ok(processor < kLongestTask, `a task of ${processor} ms`);
      assert.notEqual(await picture(page, "#plane"), first);
      await untilLabel(page, "#loss", /training [\d.]+.*, test [\d.]+/);

      await page.click("#run");
      await untilText(page, "#run", /^Train$/);
      const steps = await numberIn(page, "#steps");
      await page.click("#step");
      await untilText(page, "#steps", new RegExp(`^${(steps + 1).toLocaleString("en")}$`));
      await page.click("#reset");
      await untilText(page, "#steps", /^0$/);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("goes on training when the network, the data or the tuning change", async () => {
    const { page, problems, close } = await open("isolated");
    await page.click("#run");
    await untilNumber(page, "#steps", 1);
    assert.equal(await neurons(page), 14);
    await press(page, "Layer 1: one neuron less");
    await page.waitForFunction(
      () => document.querySelectorAll('[aria-label*="Layer 1, n"]').length === 7,
    );
    await press(page, "One layer more");
    await page.waitForSelector('[aria-label="Layer 3, neuron 6"]');
    await press(page, "x·y");
    await page.waitForSelector('[aria-label="x·y"][aria-pressed="true"]');
    await page.selectOption("#dataset", "circle");
    await page.selectOption("#activation", "ReLU");
    await page.selectOption("#penalty", "L2");
    await page.selectOption("#learning-rate", "0.03");
    await untilText(page, "#run", /^Stop$/);
    await untilNumber(page, "#accuracy", 95);

    await press(page, "Layer 2, neuron 1");
    assert.equal(await page.textContent("#plane-title"), "Layer 2, neuron 1");
    await page.hover('[aria-label="sin x"]');
    assert.equal(await page.textContent("#plane-title"), "sin x");
    await page.hover("h1");
    await page.locator("#run").focus();
    assert.equal(await page.textContent("#plane-title"), "Layer 2, neuron 1");
    await press(page, "Layer 2, neuron 1");
    await page.locator("#run").focus();
    await page.hover("h1");
    assert.equal(await page.textContent("#plane-title"), "Output");
    assert.deepEqual(problems, []);
    await close();
  });

  for (const kind of kKinds) {
    test(`${kind}: runs a visitor's code, says what is wrong with it, and stops it`, async () => {
      const { page, problems, close } = await open(kind);
      const run = async (code) => {
        // The editor is loaded when the visitor moves.
        await page.mouse.move(1, 1);
        await page.click(".cm-content");
        await page.keyboard.press("ControlOrMeta+a");
        await page.keyboard.insertText(code);
        await page.keyboard.press("ControlOrMeta+Enter");
      };
      await page.click("#code >> text=Run");
      await untilText(page, ".printed", /^0\.5 \* 0\.8 = 0\.[34]/);
      await page.waitForSelector('[aria-label^="What the code plots: loss, loss"]');

      await run("import { init, ones } from 'edgegrad';\nawait init();\nones([2]).backward();");
      await untilText(page, ".printed", /^line 3: NoGradPath: .*does not require a gradient/);
      await run("console.log({ a: 1n }, [1, 2]); nothing();");
      await untilText(page, ".printed", /^\{"a":"1n"\} \[1,2\]line 1: ReferenceError: nothing/);
      await run("while (true) console.log('again');");
      await untilText(page, ".printed", /again.*more lines omitted/);
      await page.click("#code >> text=Stop");
      await page.waitForSelector("#code button:disabled >> text=Stop");
      await run("console.log('and on');");
      await untilText(page, ".printed", /^and on$/);
      assert.deepEqual(problems, []);
      await close();
    });
  }
});
