// The Colors page: a network learns the colors of a scene and of a camera, and no byte of a picture passes through the processor.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kWebGpuCanvas, noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { kKinds, numberIn, openPage, startSite, untilNumber, untilText } from "./support/site.mjs";

const kPage = "colors/index.html";
const kCamera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

// How much red, green and blue differ in a canvas, in levels of 255.
const colorfulness = (id) => {
  const canvas = document.getElementById(id);
  const { width, height } = canvas;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    const rgb = data.slice(i, i + 3);
    sum += Math.max(...rgb) - Math.min(...rgb);
  }
  return sum / (width * height);
};

describe("the Colors page", { skip: noBrowser }, () => {
  let site;
  before(async () => {
    site = await startSite([...kWebGpuCanvas, ...kCamera]);
  });
  after(() => site?.stop());

  const open = async (kind) => {
    const opened = await openPage(site.browser, site[kind] + kPage);
    await opened.page.waitForSelector("#scene:enabled");
    return opened;
  };

  for (const kind of kKinds) {
    test(`learns the colors of a drawn scene, ${kind}`, async () => {
      const { page, problems, close } = await open(kind);
      await untilNumber(page, "#steps", 10);
      await page.waitForFunction(`(${colorfulness})("guess") > 10`);
      assert.ok((await page.evaluate(`(${colorfulness})("given")`)) < 2);
      assert.equal(await numberIn(page, "#read"), 0);
      assert.ok((await numberIn(page, "#sent")) < 1024);
      await page.click("#scene");
      await untilText(page, "#scene", /^Watch/);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("looks at the camera, stops learning and forgets", async () => {
    const { page, problems, close } = await open("isolated");
    await page.click("#camera");
    await untilNumber(page, "#steps", 5);
    assert.equal(await numberIn(page, "#read"), 0);
    await page.click("#learning");
    await untilText(page, "#learning", /^Learn$/);
    await page.click("#forget");
    await untilText(page, "#steps", /^[01]$/);
    await page.click("#camera");
    await untilText(page, "#camera", /^Use/);
    assert.ok(await page.isVisible("#drawn"));
    assert.deepEqual(problems, []);
    await close();
  });

  test("says what it needs where there is no WebGPU", async () => {
    const browser = await startChromium(["--disable-features=WebGPU,WebGPUService"]);
    const { page } = await openPage(browser, site.isolated + kPage);
    await untilText(page, "#problem", /^This page needs WebGPU/);
    assert.ok((await page.evaluate(`(${colorfulness})("guess")`)) > 10);
    assert.ok(await page.isDisabled("#camera"));
    await browser.close();
  });
});
