// The Fine-tune page: an adapter learns answers or a text, is saved and opened, and models come from folders.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kWebGpu, noBrowser } from "../browser/support/chromium.mjs";
import { eg } from "../js/support/engine.mjs";
import { kRoot } from "../js/support/files.mjs";
import { ggufFile } from "../js/support/gguf_files.mjs";
import { ggufMetadata, ggufTensors } from "../js/support/gguf_models.mjs";
import { numberIn, openPage, startSite, untilNumber, untilText } from "./support/site.mjs";

const kPage = "fine_tune/index.html";
const kModel = join(kRoot, "demos", "site", "fine_tune", "model");
const kAnswer = "I am a small model, and I have read one book.";

describe("the Fine-tune page", { skip: noBrowser }, () => {
  let site;
  let folder;
  before(async () => {
    site = await startSite(kWebGpu);
    folder = mkdtempSync(join(tmpdir(), "edgegrad-models-"));
  });
  after(async () => {
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  for (const kind of ["isolated", "plain"]) {
    test(`learns answers, and an adapter that was saved knows them, ${kind}`, async () => {
      const { page, problems, close } = await openPage(site.browser, site[kind] + kPage);
      await startAnew(page);
      await train(page, 40);
      await untilText(page, "#status", /^The lesson is learned/);
      assert.equal(await numberIn(page, "#step"), 40);
      const samples = await samplesOf(page);
      assert.equal(samples.length, 6);
      assert.deepEqual(samples[0], { title: "after step 40", text: `Who are you? ${kAnswer}` });
      assert.equal(samples.at(-1).title, "without an adapter");
      assert.ok(!samples.at(-1).text.includes(kAnswer));
      const files = [];
      for (const name of ["adapter_config.json", "adapter_model.safetensors"]) {
        const saved = page.waitForEvent("download");
        await page.getByRole("button", { name }).click();
        const path = join(folder, name);
        await (await saved).saveAs(path);
        files.push(path);
      }
      const { r, peft_type } = JSON.parse(readFileSync(files[0], "utf8"));
      assert.deepEqual({ r, peft_type }, { r: 8, peft_type: "LORA" });

      await page.reload();
      await page.waitForSelector("#open-adapter:enabled");
      await page.setInputFiles("#adapter-files", files[0]);
      await untilText(page, "#problem", /^adapter_model.safetensors is missing: choose both/);
      await page.setInputFiles("#adapter-files", files);
      await untilText(page, "#status", /^The adapter is open/);
      const before = (await samplesOf(page)).length;
      await page.click("#write");
      await page.waitForFunction(
        (count) => document.querySelectorAll("#samples li").length > count,
        before,
      );
      await untilText(page, "#samples p", /book\.$/);
      assert.equal((await samplesOf(page))[0].text, `Who are you? ${kAnswer}`);
      await isReady(page);
      await page.check("#plain");
      await page.click("#write");
      await page.waitForFunction(
        (count) => document.querySelectorAll("#samples li").length === count + 2,
        before,
      );
      await isReady(page);
      assert.ok(!(await samplesOf(page))[0].text.includes(kAnswer));
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("opens with an adapter that knows the answers, and goes on with it", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage);
    await untilText(page, "#status", /^This adapter comes with the page/);
    const titles = (await samplesOf(page)).map(({ title }) => title);
    assert.deepEqual(titles, ["after step 100", "after step 50", "without an adapter"]);
    await page.fill("#prompt", "Do you like whales?");
    await page.click("#write");
    await untilText(page, "#write", /^Stop$/);
    assert.equal(await page.textContent("#run"), "Train");
    await untilText(page, "#samples p", /Yes, but I like gradients more\.$/);
    await isReady(page);
    assert.equal((await samplesOf(page))[0].title, "after step 100");
    await train(page, 1);
    await untilText(page, "#step", /^101$/);
    await isReady(page);
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns a text, pauses while it is hidden, stops, and starts over", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage);
    await startAnew(page);
    await page.check("[value=text]");
    assert.match(await page.inputValue("#lesson"), /^Dear keeper/);
    await page.fill("#steps", "10000");
    await page.selectOption("#rank", "4");
    await page.click("#run");
    await untilNumber(page, "#step", 3);
    await setHidden(page, true);
    await untilText(page, "#status", /^Paused/);
    const paused = await numberIn(page, "#step");
    // What is asked for now is written before the next step.
    await page.click("#write");
    await setHidden(page, false);
    await untilNumber(page, "#step", paused + 2);
    assert.equal((await samplesOf(page))[0].title, `after step ${paused}`);
    await page.click("#run");
    await untilText(page, "#status", /^Stopped\.$/);
    assert.ok(await page.isDisabled("#rank"));
    await page.click("#anew");
    await untilText(page, "#step", /^0$/);
    assert.ok(await page.isEnabled("#rank"));
    assert.equal(await page.locator("#samples li").count(), 0);
    assert.deepEqual(problems, []);
    await close();
  });

  test("says what is wrong with a lesson", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage);
    for (const [lesson, note, problem] of [
      ["one | two\nno pair", /^1 pair\..*Line 2 is no pair\.$/, /^Line 2 is no pair\. Write/],
      [" ", /^0 pairs/, /^The lesson is empty\. Write/],
    ]) {
      await page.fill("#lesson", lesson);
      await untilText(page, "#lesson-note", note);
      await page.click("#run");
      await untilText(page, "#problem", problem);
      assert.ok(await page.isEnabled("#run"));
    }
    await page.fill("#lesson", 'a\tb\n{"prompt": "c", "completion": "d"}\n');
    await untilText(page, "#lesson-note", /^2 pairs\./);
    await page.fill("#steps", "0");
    await page.click("#run");
    await untilText(page, "#problem", /^Steps: /);
    assert.deepEqual(problems, []);
    await close();
  });

  test("opens a folder of model files, and says what is wrong with others", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage);
    await page.waitForSelector("#open:enabled");
    const folderWith = (name, change) => {
      const path = join(folder, name);
      cpSync(kModel, path, { recursive: true });
      change((file, content) =>
        content === null ? rmSync(join(path, file)) : writeFileSync(join(path, file), content),
      );
      return path;
    };
    for (const [change, problem] of [
      [(put) => put("tokenizer.json", null), /^The folder has no tokenizer\.json\. Choose/],
      [
        (put) => {
          put("model.safetensors", null);
          put("model.bin", "PK");
        },
        /^The folder has no model\.safetensors\. .*model\.bin have to be saved as safetensors/,
      ],
      [
        (put) => {
          put("model.safetensors", null);
          for (const name of ["one.gguf", "two.gguf"]) put(name, "GGUF");
        },
        /^The folder has several GGUF files: one\.gguf, two\.gguf\. Choose/,
      ],
      [
        (put) => put("model.safetensors", "damaged"),
        /^broken could not be opened\. .*invalid file/,
      ],
      [
        (put) => put("config.json", '{"model_type": "unknown"}'),
        /^broken could not be opened\. .*model_type is "unknown"/,
      ],
    ]) {
      rmSync(join(folder, "broken"), { recursive: true, force: true });
      await page.setInputFiles("#folder", folderWith("broken", change));
      await untilText(page, "#problem", problem);
    }
    await page.setInputFiles(
      "#folder",
      folderWith("my_model", () => {}),
    );
    await untilText(page, "#model-name", /^my_model: llama, 0\.919 million parameters\.$/);
    assert.equal(await page.textContent("#problem"), "");
    await page.selectOption("#weights", "int8");
    await train(page, 3);
    await untilNumber(page, "#step", 3);
    await isReady(page);
    await page.click("#shipped");
    await untilText(page, "#model-name", /^The small model of this page: llama/);
    const gguf = folderWith("my_gguf", (put) => {
      for (const name of readdirSync(kModel)) put(name, null);
      put("small.gguf", ggufOfModel());
    });
    await page.selectOption("#weights", "auto");
    await page.setInputFiles("#folder", gguf);
    await untilText(page, "#model-name", /^my_gguf: llama/);
    await train(page, 1);
    await untilNumber(page, "#step", 1);
    await isReady(page);
    assert.equal(await page.textContent("#problem"), "");
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns on WebGPU", async () => {
    const { page, problems, close } = await openPage(site.browser, site.isolated + kPage);
    await page.waitForFunction(() => document.getElementById("device").length > 1);
    await page.selectOption("#device", "webgpu");
    await startAnew(page);
    await page.fill("#lesson", "a | b");
    await train(page, 1);
    await untilNumber(page, "#step", 1);
    assert.match(await page.textContent("#runtime"), /WebGPU/);
    await isReady(page);
    assert.deepEqual(problems, []);
    await close();
  });
});

// The model of the page as one file, whose matrices have eight bits.
function ggufOfModel() {
  const read = (name) => readFileSync(join(kModel, name));
  const [config, { model, added_tokens: added }] = ["config.json", "tokenizer.json"].map((name) =>
    JSON.parse(read(name)),
  );
  const tensors = eg.io.loadSafetensors(read("model.safetensors"));
  const arrays = Object.fromEntries(
    Object.entries(tensors).map(([name, one]) => [name, one.float().arraySync()]),
  );
  const { num_attention_heads: heads, num_key_value_heads: groups, eos_token_id: end } = config;
  const words = Object.entries(model.vocab).sort(([, one], [, other]) => one - other);
  const tokens = words.map(([word]) => word);
  const special = new Set(added.map(({ id }) => id));
  const strings = (values) => ({ list: "string", values });
  const metadata = {
    ...ggufMetadata("llama", config),
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": strings(tokens),
    "tokenizer.ggml.token_type": {
      list: "int32",
      values: tokens.map((_, id) => (special.has(id) ? 3 : 1)),
    },
    "tokenizer.ggml.merges": strings(model.merges.map((one) => [one].flat().join(" "))),
    "tokenizer.ggml.eos_token_id": end,
  };
  const made = ggufTensors("llama", arrays, { heads, groups }, () => "Q8_0");
  return ggufFile({ metadata, tensors: made });
}

async function train(page, steps) {
  await page.waitForSelector("#run:enabled");
  await page.fill("#steps", String(steps));
  await page.click("#run");
}

async function isReady(page) {
  await untilText(page, "#run", /^Train$/);
  await page.waitForSelector("#run:enabled");
}

// Removes the adapter that the page has.
async function startAnew(page) {
  await page.click("#anew:enabled");
  await untilText(page, "#step", /^0$/);
  await isReady(page);
}

function samplesOf(page) {
  return page.locator("#samples li").evaluateAll((items) =>
    items.map((item) => ({
      title: item.querySelector("small").textContent,
      text: item.querySelector("p").textContent,
    })),
  );
}

// Tests run in windows that are always seen.
function setHidden(page, isHidden) {
  return page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}
