// Programs that run in their page: those of the guide and the reference.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { noSite } from "./support/pages.mjs";
import { openPage, startSite, untilText } from "./support/site.mjs";

const kOutput = ".live-output [role=log]";

describe("the programs of the docs", { skip: noBrowser || noSite }, () => {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.stop());

  const open = (path) => openPage(site.browser, `${site.isolated}docs/${path}`);

  test("load nothing before somebody runs one", async () => {
    const { page, problems, close } = await open("documents/Tensors.html");
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => name),
    );
    assert.ok((await page.locator(".live-run").count()) > 2);
    assert.deepEqual(
      loaded.filter((name) => /live\.js|\.wasm|code_worker/.test(name)),
      [],
    );
    assert.deepEqual(problems, []);
    await close();
  });

  for (const [path, number, printed] of [
    ["documents/Tensors.html", 0, /tensor\(\[\[1\., 2\.\]/],
    ["documents/Tutorial__images.html", 0, /300, ?1, ?12, ?12/],
    ["documents/Recipes.html", 2, /true/],
    ["functions/relu.html", 0, /tensor\(\[0\.0000/],
    ["functions/edgegrad_metrics.accuracy.html", 0, /0\.67/],
  ]) {
    test(`${path}: program ${number} prints what it says`, async () => {
      const { page, problems, close } = await open(path);
      await page.locator(".live-run").nth(number).click();
      await untilText(page, kOutput, printed);
      await untilText(page, ".live-note", /^[\d.]+ s/);
      if (path.includes("Recipes")) await page.locator("eg-line-chart canvas").first().waitFor();
      assert.equal(await page.locator(`${kOutput} .error`).count(), 0);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("are edited, name the line of an error, and are shared by their address", async () => {
    const { page, close } = await open("functions/relu.html");
    await page.getByRole("button", { name: "Edit" }).first().click();
    const editor = page.getByRole("textbox", { name: "Program" });
    await editor.waitFor();
    await editor.fill('import * as eg from "edgegrad";\n\nthrow new Error("mine");');
    await page.locator(".live-run").first().click();
    await untilText(page, kOutput, /line 3: Error: mine/);
    await editor.fill("const a = 1;\nconst = 2;");
    await page.locator(".live-run").first().click();
    await untilText(page, kOutput, /line 2: SyntaxError/);
    await editor.fill('import * as eg from "edgegrad";\n\nthrow new Error("mine");');
    await page.getByRole("button", { name: "Share" }).first().click();
    await page.waitForFunction(() => location.hash.startsWith("#live-0="));
    const shared = page.url();
    await close();

    const again = await openPage(site.browser, shared);
    await again.page.getByText('throw new Error("mine")').waitFor();
    await again.close();
  });

  test("are there in Python where the page has both, and the choice is kept", async () => {
    const { page, problems, close } = await open("documents/Autograd.html");
    const [js, python] = ["pre:has(code.js)", "pre:has(code.python)"].map((one) =>
      page.locator(one).first(),
    );
    assert.deepEqual([await js.isVisible(), await python.isVisible()], [true, false]);
    await page.locator(".languages").nth(1).getByRole("button", { name: "Python" }).click();
    assert.deepEqual([await js.isVisible(), await python.isVisible()], [false, true]);
    await page.reload();
    await python.waitFor();
    assert.equal(await page.locator(".live-run:visible").count(), 0);
    await page.locator(".languages").first().getByRole("button", { name: "JavaScript" }).click();
    assert.equal(await js.isVisible(), true);
    assert.deepEqual(problems, []);
    await close();
  });

  test("have no buttons where they need Node or a server", async () => {
    const { page, close } = await open("documents/Distributed_training.html");
    assert.equal(await page.locator(".live-run").count(), 0);
    await close();
  });
});
