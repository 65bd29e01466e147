// The start page: its program trains when somebody is there, and can be changed, stopped and broken, with threads and without.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { noSite } from "./support/pages.mjs";
import { openPage, startSite, untilIsolated } from "./support/site.mjs";

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

    test("trains when somebody is there", async () => {
      await page.mouse.move(1, 1);
      assert.equal(await page.evaluate(() => crossOriginIsolated), isIsolated);
      await printed(isIsolated ? /variant: (?:relaxed|simd)/ : /threads: 1, variant: single/);
      await printed(/^1000 /);
      await page.locator("#program [role=img][aria-label*='loss 0.']").waitFor();
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
      await page.getByRole("button", { name: "Reset" }).click();
      await page.getByRole("button", { name: "Run" }).click();
      await printed(/^1000 /);
    });

    test("complains of nothing", () => assert.deepEqual(complaints, []));

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
    await page.mouse.move(1, 1);
    await page
      .getByRole("log")
      .getByText(/variant: (?:relaxed|simd)/)
      .waitFor();
  });
});
