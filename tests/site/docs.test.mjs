// The guide and the reference: their search, and the link back to the other pages.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kAddons } from "../../scripts/addons.mjs";
import { noBrowser } from "../browser/support/chromium.mjs";
import { allPages, kSite, noSite } from "./support/pages.mjs";
import { startSite } from "./support/site.mjs";

describe("the docs", { skip: noBrowser || noSite }, () => {
  let site;
  let page;
  before(async () => {
    site = await startSite();
    page = await site.browser.newPage();
  });
  after(() => site?.stop());

  for (const [word, found] of [
    ["crossEntropy", "functions/crossEntropy.html"],
    ["MultiheadAttention", "classes/nn.MultiheadAttention.html"],
    ["Deploying", "documents/Deploying.html"],
    ["ONNX models", "documents/ONNX_models.html"],
    ["ONNX export", "documents/ONNX_export.html"],
    ["Charts", "documents/Charts.html"],
    ["OnnxModule", "classes/edgegrad_onnx.OnnxModule.html"],
  ]) {
    test(`are searched for ${word}`, async () => {
      await page.goto(`${site.isolated}docs/types/DType.html`);
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("combobox").fill(word);
      await page.locator(`#tsd-search-results a[href$="${found}"]`).click();
      await page.waitForURL(`${site.isolated}docs/${found}`);
    });
  }

  test("show results as they are ranked", async () => {
    await page.goto(`${site.isolated}docs/types/DType.html`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("combobox").fill("how do I stop the Training: early?");
    const first = page.locator("#tsd-search-results a").first();
    assert.match(await first.getAttribute("href"), /The_training_loop/);
  });

  test("are searched for what was typed before the index has arrived", async () => {
    const page = await site.browser.newPage();
    await page.clock.install();
    let arrive;
    const arrived = new Promise((resolve) => {
      arrive = resolve;
    });
    await page.route("**/assets/search.js", async (route) => {
      await arrived;
      await route.continue();
    });
    await page.goto(`${site.isolated}docs/types/DType.html`);
    await page.getByRole("button", { name: "Search" }).click();
    const field = page.getByRole("combobox");
    await field.fill("crossEntropy");
    // The search waits for more letters, but not as long.
    await page.clock.fastForward(1000);
    arrive();
    await page.locator('#tsd-search-results a[href$="functions/crossEntropy.html"]').waitFor();
    await page.close();
  });

  for (const name of kAddons) {
    test(`have a chapter for edgegrad/${name}`, async () => {
      await page.goto(`${site.isolated}docs/modules/edgegrad_${name}.html`);
      assert.match(await page.textContent("h1"), new RegExp(`edgegrad/${name}`));
      await page.getByText(`from "edgegrad/${name}"`).waitFor();
      const [first] = Object.keys(await import(`edgegrad/${name}`)).filter(
        (one) => one !== "default",
      );
      await page.locator(`.tsd-member-summary-name a[href*=".${first}.html"]`).first().click();
      await page.waitForURL(new RegExp(`/docs/\\w+/edgegrad_${name}\\.${first}\\.html$`));
    });
  }

  test("have no page that is larger than 150 kB", () => {
    const large = allPages()
      .filter((name) => name.startsWith("docs/"))
      .map((name) => [name, statSync(join(kSite, name)).size])
      .filter(([, size]) => size > 150 * 1024);
    assert.deepEqual(large, []);
  });

  test("say what a function, a layer, an optimizer and a distribution do, take, throw and belong to", () => {
    for (const name of [
      "functions/softmax",
      "functions/linalg.norm",
      "classes/nn.Conv2d",
      "classes/nn.CrossEntropyLoss",
      "classes/optim.Adam",
      "classes/distributions.Normal",
    ]) {
      const page = readFileSync(join(kSite, "docs", `${name}.html`), "utf8");
      for (const head of ["PyTorch", "Formula", "Shapes", "Dtypes", "Errors", "See also"])
        assert.ok(page.includes(`<td>${head}</td>`), `${name}: ${head}`);
      assert.match(page, /<math display="block">.*<code>InvalidArgument<\/code>/s);
      const levels = [...page.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
      const skips = levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1);
      assert.deepEqual(skips, [], name);
    }
  });

  test("fold what a class inherits, and lead from Tensor to its topics", async () => {
    await page.goto(`${site.isolated}docs/classes/nn.Parameter.html`);
    await page.locator("details.inherited summary", { hasText: "members of Tensor" }).click();
    await page.locator("details.inherited a", { hasText: /^sum$/ }).click();
    await page.waitForURL(/\/docs\/classes\/Tensor\.reductions\.html#sum$/);
    await page.getByRole("link", { name: "sum", exact: true }).first().waitFor();
  });

  test("lead from page to page of the guide", async () => {
    await page.goto(`${site.isolated}docs/documents/Tutorial__a_first_model.html`);
    await page.locator(".neighbors a[rel=next]").click();
    await page.waitForURL(/Tutorial__images\.html$/);
    await page.locator(".neighbors a[rel=prev]").waitFor();
  });

  test("lead back to the start page from any depth", async () => {
    for (const name of ["index.html", "classes/nn.Linear.html"]) {
      await page.goto(`${site.isolated}docs/${name}`);
      await page.getByRole("link", { name: "Site", exact: true }).first().click();
      await page.waitForURL(`${site.isolated}index.html`);
      await page.getByRole("link", { name: "Reference" }).click();
      assert.equal(new URL(page.url()).pathname, "/some/path/docs/modules.html");
    }
  });
});
