// The page that measures a graphics card, with tiny sizes on a software adapter.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kWebGpu, noBrowser } from "../browser/support/chromium.mjs";
import { kKinds, openPage, startSite, untilText } from "./support/site.mjs";

const kPage = "measure_gpu/index.html?size=tiny";
const kMeasuring = 600_000; // ms
const kPeers = /\/assets\/peers\//;

/** The contenders that fill each column of a row, by what the row is about. */
const kFilled = {
  multiply: ["plain WebGPU"],
  matmul: ["edgegrad", "jax-js", "tfjs-webgpu"],
  conv2d: ["edgegrad", "jax-js", "tfjs-webgpu"],
  copy: ["plain WebGPU", "edgegrad"],
  x: ["plain WebGPU", "edgegrad", "jax-js", "tfjs-webgpu"],
  MLP: ["edgegrad", "edgegrad, captured", "jax-js", "tfjs-webgpu"],
  CNN: ["edgegrad", "edgegrad, captured", "jax-js", "tfjs-webgpu"],
  GPT: ["edgegrad", "edgegrad, captured", "jax-js", "tfjs-webgpu"],
};

/** Returns the table of a Markdown text as objects by the titles of the columns. */
function tableIn(text) {
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  const [titles, , ...rows] = lines.map((line) => line.slice(2, -2).split(" | "));
  return rows.map((cells) =>
    Object.fromEntries(titles.map((title, i) => [title.trim(), cells[i]])),
  );
}

describe("the page that measures a GPU", { skip: noBrowser }, () => {
  let site;
  before(async () => {
    site = await startSite(kWebGpu);
  });
  after(() => site?.stop());

  test("measures every library and copies the table", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const loaded = [];
    page.context().on("request", (request) => loaded.push(request.url()));
    await page.waitForSelector("#run:enabled");
    assert.match(await page.textContent("#adapter"), /architectureswiftshader/);
    assert.deepEqual(
      loaded.filter((url) => kPeers.test(url)),
      [],
    );
    await page.click("#run");
    await page.waitForSelector("#copy:enabled", { timeout: kMeasuring });
    assert.ok(loaded.some((url) => kPeers.test(url)));
    assert.equal(await page.textContent("#status"), "Done.");
    await page.click("#copy");
    await untilText(page, "#copied", /Copied/);
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^- vendor: google$/m);
    const rows = tableIn(text);
    assert.equal(rows.length, Object.keys(kFilled).length, text);
    for (const row of rows) {
      const { "": what, unit, ...cells } = row;
      const filled = Object.keys(cells).filter((title) => /\S/.test(cells[title]));
      assert.deepEqual(filled, kFilled[/^\w+/.exec(what)[0]], text);
      assert.match(unit, /^(GFLOPS|GB\/s|steps\/s)$/);
      for (const title of filled) assert.match(cells[title], /^[\d,.]+$/, `${what}, ${title}`);
    }
    for (const row of rows.filter(({ unit }) => unit === "steps/s"))
      assert.ok(Number(row.edgegrad.replaceAll(",", "")) > 0, text);
    const shown = await page.locator("#rows tr").first().locator("td").allTextContents();
    assert.deepEqual(shown, Object.values(rows[0]).slice(1));
    assert.deepEqual(problems, []);
    await close();
  });

  for (const kind of kKinds) {
    test(`${kind}: stops when asked`, async () => {
      const { page, problems, close } = await openPage(site.browser, site[kind] + kPage);
      await page.waitForSelector("#run:enabled");
      await page.click("#run");
      await page.click("#run");
      await untilText(page, "#status", /^Stopped\.$/);
      assert.equal(await page.textContent("#run"), "Measure");
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("says so where there is no adapter", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage, {});
    await page.addInitScript(() => {
      Object.defineProperty(navigator, "gpu", { value: undefined });
    });
    await page.reload();
    await untilText(page, "#status", /no WebGPU adapter/);
    assert.ok(await page.isDisabled("#run"));
    assert.deepEqual(problems, []);
    await close();
  });
});
