// What visitors take home of the demos: links, files that run alone, weights, models and projects, each used as they would.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { unzipSync } from "fflate";
import { writeProject } from "../../create/project.mjs";
import { noBrowser } from "../browser/support/chromium.mjs";
import { complaintsOf } from "./support/pages.mjs";
import { numberIn, openPage, startSite, untilNumber, untilText } from "./support/site.mjs";

describe("what demos give to take home", { skip: noBrowser }, () => {
  let site;
  let folder;
  before(async () => {
    site = await startSite();
    folder = mkdtempSync(join(tmpdir(), "edgegrad-home-"));
  });
  after(async () => {
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  async function open(name, ready = "#run:enabled") {
    const permissions = ["clipboard-read", "clipboard-write"];
    const opened = await openPage(site.browser, `${site.isolated}${name}/index.html`, {
      permissions,
    });
    await opened.page.waitForSelector(ready);
    return opened;
  }

  async function linkOf(page) {
    await page.getByRole("button", { name: "Copy a link" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  }

  async function saved(page, button) {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: button }).click();
    const path = join(folder, (await download).suggestedFilename());
    await (await download).saveAs(path);
    return path;
  }

  test("a link holds the settings and the weights of the playground", async () => {
    const { page, close } = await open("playground");
    await page.selectOption("#dataset", "circle");
    await page.selectOption("#activation", "ReLU");
    await untilText(page, "#steps", /^0$/);
    await page.click("#run");
    await untilNumber(page, "#accuracy", 95);
    await page.click("#run");
    await untilText(page, "#run", /^Train$/);
    const steps = await page.textContent("#steps");
    const link = await linkOf(page);
    await close();

    const context = await site.browser.newContext({ serviceWorkers: "block" });
    const next = await context.newPage();
    const problems = complaintsOf(next);
    await next.goto(link);
    await next.waitForSelector("#run:enabled");
    assert.equal(await next.textContent("#steps"), steps);
    assert.equal(await next.inputValue("#dataset"), "circle");
    assert.ok((await numberIn(next, "#accuracy")) >= 90);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test("a link holds what Personalize has learned, and a lesson of Fine-tune", async () => {
    const personal = await open("personalize", "#example:enabled");
    const link = await linkOf(personal.page);
    await personal.close();
    const { page, problems, close } = await openPage(site.browser, link);
    await untilText(page, "#learned", /^It knows fish, leaf, cup\.$/);
    assert.deepEqual(problems, []);
    await close();

    const tuned = await open("fine_tune");
    await tuned.page.fill("#lesson", "a | b");
    const lesson = await openPage(site.browser, await linkOf(tuned.page));
    await untilText(lesson.page, "#lesson-note", /^1 pair\./);
    assert.equal(await lesson.page.inputValue("#lesson"), "a | b");
    await Promise.all([tuned.close(), lesson.close()]);
  });

  test("one HTML file reads digits from a disk", async () => {
    const { page, problems, close } = await open("digits");
    const file = await saved(page, "One HTML file");
    assert.ok(statSync(file).size < 2e6, `${statSync(file).size} bytes`);
    assert.deepEqual(problems, []);
    await close();
    const context = await site.browser.newContext({ offline: true });
    const alone = await context.newPage();
    const complaints = complaintsOf(alone);
    await alone.goto(pathToFileURL(file).href);
    await alone.waitForSelector("body[data-ready]");
    // A vertical line is a one.
    await alone.locator("#pad").hover({ position: { x: 140, y: 60 } });
    await alone.mouse.down();
    await alone.locator("#pad").hover({ position: { x: 140, y: 220 } });
    await alone.mouse.up();
    await untilText(alone, "#read", /^1, \d+ % sure$/);
    assert.deepEqual(complaints, []);
    await context.close();
  });

  test("a project is what npm create edgegrad writes, with the model", async () => {
    const { page, close } = await open("playground");
    const zip = unzipSync(readFileSync(await saved(page, "Download as a project")));
    await close();
    const written = join(folder, "playground");
    writeProject(written, "vite-ts");
    const names = readdirSync(written, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(written.length + 1));
    const given = Object.keys(zip).map((name) => name.slice("playground/".length));
    const extra = given.filter((name) => !names.includes(name));
    assert.deepEqual(extra.sort(), ["public/weights.safetensors", "src/model.js"]);
    for (const name of names) {
      const text = Buffer.from(zip[`playground/${name}`]).toString();
      assert.equal(text, readFileSync(join(written, name), "utf8"), name);
    }
  });

  test("models and weights are read by the package", async () => {
    const eg = await import("edgegrad");
    const { load } = await import("edgegrad/onnx");
    await eg.init();
    const { page, problems, close } = await open("digits");
    const model = await load(readFileSync(await saved(page, "Model (ONNX)")));
    assert.deepEqual(model.call(eg.zeros([3, 784])).shape, [3, 10]);
    const weights = eg.io.loadSafetensors(readFileSync(await saved(page, "Weights (safetensors)")));
    assert.deepEqual(weights["0.weight"].shape, [64, 784]);
    const component = readFileSync(await saved(page, "React component"), "utf8");
    assert.match(component, /input: Uint8Array \| null/);
    assert.deepEqual(problems, []);
    await close();
    for (const [name, shape] of [
      ["gpt", [1, 64, 75]],
      ["personalize", [1, 3]],
    ]) {
      const other = await open(name, name === "gpt" ? "#run:enabled" : "#example:enabled");
      const own = await load(readFileSync(await saved(other.page, "Model (ONNX)")));
      const [input] = own.inputs;
      const given = eg.zeros(
        input.shape.map((size) => (typeof size === "number" ? size : 1)),
        {
          dtype: input.dtype ?? "float32",
        },
      );
      assert.deepEqual(own.call(given).shape, shape);
      await other.close();
    }
    await eg.shutdown();
  });
});
