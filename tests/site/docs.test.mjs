// The guide and the reference: their search, and the link back to the other pages.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
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

  for (const [typed, found] of [
    ["cross_entropy", "functions/crossEntropy.html"],
    ["F.relu", "functions/relu.html"],
    ["nn.CrossEntropyLoss", "classes/nn.CrossEntropyLoss.html"],
    ["tf.tidy", "functions/scope.html"],
    ["clip_grad_norm_", "functions/nn.utils.clipGradNorm_.html"],
    ["state_dict", "documents/Saving_and_loading.html"],
    ["headers", "documents/Threads.html"],
    ["early stopping", "documents/The_training_loop.html"],
    ["overfit", "documents/The_training_loop.html"],
    ["backpropagation", "documents/Autograd.html"],
    ["learning rate", "documents/The_training_loop.html"],
    ["slow", "documents/Performance.html"],
    ["memory leak", "documents/Memory.html"],
    ["getting started", "documents/Tutorial__a_first_model.html"],
    ["csv", "documents/Recipes.html"],
  ]) {
    test(`answer "${typed}" among the first three`, async () => {
      await page.goto(`${site.isolated}docs/types/DType.html`);
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("combobox").fill(typed);
      const results = page.locator("#tsd-search-results a");
      await results.first().waitFor();
      const first = await results.evaluateAll((links) =>
        links.slice(0, 3).map(({ pathname, hash }) => pathname.split("/docs/")[1] + hash),
      );
      assert.ok(first.includes(found), first.join(", "));
    });
  }

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
