// The notebook: cells of JavaScript and of Python.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { noSite } from "./support/pages.mjs";
import { openPage, startSite, untilText } from "./support/site.mjs";

const cell = (number) => `#cells .cell:nth-child(${number}) [role=log]`;

describe("the notebook", { skip: noBrowser || noSite }, () => {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.stop());

  test("runs cells that share variables, keeps them, and opens a file", async () => {
    const { page, problems, close } = await openPage(
      site.browser,
      `${site.isolated}notebook/index.html`,
    );
    await page.mouse.move(5, 5);
    await page.locator(".cm-content").first().click();
    await page.keyboard.press("Shift+Enter");
    await untilText(page, cell(1), /100, ?1/);
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.press("Shift+Enter");
    await untilText(page, cell(3), /float32 \[3, 1\]/);
    assert.equal(await page.locator("#cells .cell").count(), 4);

    const fourth = page.getByRole("textbox", { name: "Code of cell 4" });
    await fourth.fill("const { shape: [rows] } = x;\nrows + 1");
    await page.keyboard.press("Shift+Enter");
    await untilText(page, cell(4), /101/);
    await page.reload();
    await page.getByText("rows + 1").waitFor();

    const cells = [
      { cell_type: "markdown", source: ["A heading"] },
      { cell_type: "code", source: ["1 + ", "1"] },
    ];
    await page.setInputFiles("#open", {
      name: "mine.ipynb",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify({ cells })),
    });
    await untilText(page, "#status", /mine\.ipynb is open/);
    await page.click("#run-all");
    await untilText(page, cell(2), /^2$/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("names the line of an error, and leaves out the cells that wait when it is stopped", async () => {
    const { page, close } = await openPage(site.browser, `${site.isolated}notebook/index.html`);
    await openCells(page, ["1;\nconst = 2;", "for (;;) {}", "console.log('late')"], "javascript");
    await page.click("#run-all");
    await untilText(page, cell(1), /^line 2: SyntaxError/);
    await untilText(page, note(2), /^Runs/);
    await page.click("#stop");
    await untilText(page, note(3), /^Stopped/);
    assert.equal(await page.textContent(cell(3)), "");
    await close();
  });

  test("runs Python: prints at once, shows tensors and charts, names lines, interrupts, starts anew", async () => {
    const { page, problems, close } = await openPage(
      site.browser,
      `${site.isolated}notebook/index.html#python`,
      { serviceWorkers: "allow" },
    );
    assert.deepEqual(await pythonFilesOf(page), []);
    await page.click("#run-all");
    await untilText(page, note(1), /^Python (arrives: \d+ %|starts)/);
    await untilText(page, cell(1), /torch\.Size\(\[100, 1\]\)/);
    await untilText(page, cell(3), /float32 \[3, 1\]/);
    await page.locator("eg-line-chart canvas").waitFor();
    // The service worker started after Python did.
    await page.waitForFunction(async () => {
      const kept = await (await caches.open("visited")).keys();
      return ["pyodide.asm.wasm", ".whl"].every((name) =>
        kept.some(({ url }) => url.endsWith(name)),
      );
    });

    const codes = [
      "import time\ndef f(n):\n    return 1 / n",
      "print('first')\nf(0)",
      "x = 1\nx = = 2",
      "print('begins')\nwhile True:\n    time.sleep(0.01)",
      "print('late')",
      "1 + f(1)",
    ];
    await openCells(page, codes, "python");
    await page.click("#run-all");
    await untilText(
      page,
      cell(2),
      /firstline 2: ZeroDivisionError: division by zero\s+in f, of another cell, line 3: return 1/,
    );
    await untilText(page, cell(3), /^line 2: SyntaxError/);
    await page.locator(".cell:nth-child(3) .cm-line.wrong").waitFor();
    await untilText(page, cell(4), /begins/);
    await page.click("#stop");
    await untilText(page, cell(4), /line [23]: Interrupted/);
    await untilText(page, "#status", /the variables are there/);
    await untilText(page, note(5), /^Stopped/);
    assert.equal(await page.textContent(cell(5)), "");
    await page.locator(".cell:nth-child(6)").getByRole("button", { name: "Run" }).click();
    await untilText(page, cell(6), /^2\.0$/);

    await page.click("#restart");
    await page.locator(".cell:nth-child(6)").getByRole("button", { name: "Run" }).click();
    await untilText(page, cell(6), /line 1: NameError/);
    assert.deepEqual(problems, []);
    await close();
  });

  for (const language of ["javascript", "python"]) {
    test(`runs all programs in ${language}`, async () => {
      const { page, problems, close } = await openPage(
        site.browser,
        `${site.isolated}notebook/index.html#${language}`,
      );
      const titles = await page.locator("#program option").allTextContents();
      for (const title of titles.slice(1)) {
        await page.selectOption("#program", title);
        await page.click("#run-all");
        const last = `#cells .cell:last-child`;
        await untilText(page, `${last} .live-note`, /^[\d.]+ s$/);
        const errors = await page.locator("#cells .error").allTextContents();
        // A third time through a graph is meant to fail.
        const expected = title.startsWith("What a graph keeps") ? 1 : 0;
        assert.equal(errors.length, expected, `${title}: ${errors}`);
      }
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("keeps a notebook for each language, and writes the language into the file", async () => {
    const { page, close } = await openPage(site.browser, `${site.isolated}notebook/index.html`);
    await openCells(page, ["1 + 1"], "python");
    assert.equal(await page.inputValue("#language"), "python");
    await page.selectOption("#language", "javascript");
    assert.match(await page.textContent("#cells"), /eg\.init/);
    await page.selectOption("#language", "python");
    assert.match(await page.textContent("#cells .cell:first-child"), /1 \+ 1/);
    const saved = page.waitForEvent("download");
    await page.click("#save");
    const file = JSON.parse(readFileSync(await (await saved).path(), "utf8"));
    assert.equal(file.metadata.kernelspec.language, "python");
    assert.deepEqual(
      file.cells.map(({ source }) => source),
      ["1 + 1"],
    );
    await close();
  });
});

const note = (number) => `#cells .cell:nth-child(${number}) .live-note`;

async function openCells(page, codes, language) {
  const cells = codes.map((source) => ({ cell_type: "code", source }));
  const metadata = { kernelspec: { name: `${language}3`, language } };
  await page.mouse.move(5, 5);
  await page.setInputFiles("#open", {
    name: "mine.ipynb",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify({ cells, metadata })),
  });
  await untilText(page, "#status", /mine\.ipynb is open/);
}

// What a page has loaded that only Python needs.
async function pythonFilesOf(page) {
  const names = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => name),
  );
  return names.filter((name) => /\/python\/|lang-python|dist-python/.test(name));
}
