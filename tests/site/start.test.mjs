// The start page: its program trains on arrival, and can be changed, stopped and broken, with threads and without.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { noBrowser } from "../browser/support/chromium.mjs";
import { kSite, noSite } from "./support/pages.mjs";
import { openPage, startSite, untilIsolated } from "./support/site.mjs";

// What comes before the engine: the page with its code in color, its scripts and styles, in gzipped bytes.
const kMostBeforeEngine = 22_000;

const kEndless = "for (let i = 0; ; i++) plot(i, 1);";

for (const [title, kind, isIsolated] of [
  ["isolated", "isolated", true],
  ["not isolated", "plain", false],
]) {
  describe(`the start page, ${title}`, { skip: noBrowser || noSite }, () => {
    let site;
    let page;
    let complaints;

    before(async () => {
      site = await startSite();
      ({ page, problems: complaints } = await openPage(site.browser, site[kind]));
    });
    after(() => site?.stop());

    test("trains on arrival, and shows what the model says of the plane", async () => {
      assert.equal(await page.evaluate(() => crossOriginIsolated), isIsolated);
      await printed(isIsolated ? /variant: (?:relaxed|simd)/ : /threads: 1, variant: single/);
      const first = await plane(page);
      await printed(/^500 /);
      await page.locator("#program [role=img][aria-label*='loss 0.']").waitFor();
      assert.notEqual(await plane(page), first);
    });

    test("runs what was written into it", async () => {
      await write("import { init, ones } from 'edgegrad'; await init(); console.log(ones([2]));");
      await page.keyboard.press("Control+Enter");
      await printed(/^tensor\(\[1\., 1\.\]\)$/);
    });

    test("stops what does not end", async () => {
      await write(kEndless);
      await page.getByRole("button", { name: "Run" }).click();
      await page.locator("#program [role=img][aria-label*='loss 1']").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Stop", disabled: true }).waitFor();
    });

    test("shows an error where it happened, and has its program again", async () => {
      await write("import * as eg from 'edgegrad';\nawait eg.init();\neg.ones([2]).backward();");
      await page.getByRole("button", { name: "Run" }).click();
      await printed(/^line 3: .*NoGradPath/);
      await page.locator(".cm-line.wrong").filter({ hasText: "backward" }).waitFor();
      await page.getByRole("button", { name: "Reset" }).click();
      await page.getByRole("button", { name: "Run" }).click();
      await printed(/^500 /);
    });

    test("complains of nothing", () => assert.deepEqual(complaints, []));

    test("copies the command that installs the package", async () => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy the command" }).click();
      assert.equal(
        await page.evaluate(() => navigator.clipboard.readText()),
        "npm install edgegrad",
      );
    });

    function printed(text) {
      return page.getByRole("log").locator("div").filter({ hasText: text }).first().waitFor();
    }

    async function write(text) {
      // The editor is loaded when the visitor moves.
      await page.mouse.move(1, 1);
      await page.locator(".cm-content").click();
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(text);
    }
  });
}

describe("the start page of visitors who prefer less motion", { skip: noBrowser || noSite }, () => {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.stop());

  test("shows only the last picture", async () => {
    const { page, problems } = await openPage(site.browser, site.isolated, {
      reducedMotion: "reduce",
    });
    const first = await plane(page);
    const log = page.getByRole("log");
    await log.getByText(/^500 /).waitFor();
    assert.equal(await plane(page), first);
    await log.getByText(/^Sequential/).waitFor();
    await page.waitForFunction((first) => globalThis.planeNow() !== first, first);
    assert.deepEqual(problems, []);
  });
});

// A hash of the picture of the plane.
function plane(page) {
  return page.evaluate(() => {
    globalThis.planeNow = () => {
      const canvas = document.getElementById("painted");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.reduce((hash, value) => (hash * 31 + value) % 1_000_003, 0);
    };
    return globalThis.planeNow();
  });
}

test("the start page is small before the engine comes", { skip: noSite }, () => {
  const html = readFileSync(join(kSite, "index.html"), "utf8");
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)];
  const all = ["index.html", ...files.map(([, file]) => file)];
  const bytes = all.map((file) => gzipSync(readFileSync(join(kSite, file)), { level: 9 }).length);
  const sum = bytes.reduce((total, one) => total + one, 0);
  assert.ok(files.length > 5 && sum < kMostBeforeEngine, `${sum} bytes in ${files.length} files`);
});

describe("the start page on a server without headers", { skip: noBrowser || noSite }, () => {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.stop());

  test("is isolated by the service worker", async () => {
    const page = await site.browser.newPage();
    await page.goto(site.plain);
    await untilIsolated(page);
    await page
      .getByRole("log")
      .getByText(/variant: (?:relaxed|simd)/)
      .waitFor();
  });
});
