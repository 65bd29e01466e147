// The converter page: files of all formats are opened, shown, run, taught and saved, and what is no such file is refused.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { load, save } from "edgegrad/onnx";
import { noBrowser } from "../browser/support/chromium.mjs";
import { eg } from "../js/support/engine.mjs";
import { runModel } from "../js/support/onnx_runtime.mjs";
import { assertAccessible } from "./support/accessible.mjs";
import {
  boxesOf,
  factsOf,
  give,
  openConverter,
  openExample,
  rowsOf,
  saved,
} from "./support/converter_page.mjs";
import { drawLine } from "./support/digits_page.mjs";
import { kLongestTask, longestTask, startSite, untilLabel, untilText } from "./support/site.mjs";

const { nn } = eg;

describe("the converter page", { skip: noBrowser }, () => {
  let site;
  let browser;

  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  test("shows the graph, the weights and a run of the example", async () => {
    const { page, problems, close } = await openConverter(browser, site.isolated);
    await openExample(page);
    const facts = await factsOf(page);
    assert.equal(facts.kind, "ONNX model");
    assert.match(facts["written by"], /^edgegrad/);
    const boxes = await boxesOf(page);
    assert.equal(boxes[0], "input pictures [batch, 1, 28, 28]");
    assert.equal(boxes.at(-1), "output scores [batch, 5]");
    assert.equal(boxes.filter((label) => label.startsWith("Conv")).length, 9);

    await page.click("#measure");
    await page.waitForFunction(() =>
      /\d/.test(document.querySelector("#weights td:nth-child(7)")?.textContent),
    );
    const [first] = await rowsOf(page, "#weights");
    assert.deepEqual(first.slice(0, 4), ["layer1.conv1.weight", "[12, 1, 3, 3]", "float32", "432"]);
    const [min, mean, max, nans] = first.slice(4).map(Number);
    assert.ok(min < mean && mean < max && nans === 0, String(first));
    await page.fill("#filter", "fc.");
    assert.deepEqual(
      (await rowsOf(page, "#weights")).map(([name]) => name),
      ["fc.weight", "fc.bias"],
    );

    await page.fill("#sizes input", "3");
    await page.click("#run");
    await untilText(page, "#run-note", /pictures \[3, 1, 28, 28\]: [\d.]+ ms/);
    const [result] = await rowsOf(page, "#results");
    assert.deepEqual(result.slice(0, 3), ["scores", "float32", "[3, 5]"]);
    assert.ok(result[3].split(",").length >= 12);
    assert.ok(
      (await boxesOf(page)).includes("Conv [3, 12, 14, 14]"),
      "the graph has the shapes of the run",
    );

    await page.fill("#sizes input", "0");
    await page.selectOption("#fill", "zeros");
    await page.click("#run");
    await untilText(page, "#run-note", /pictures \[0, 1, 28, 28\]/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("teaches the example ten digits, and saves what it has learned in all formats", async () => {
    const { page, problems, close } = await openConverter(browser, site.plain);
    await openExample(page);
    await page.click("#learn");
    await untilText(page, "#lesson-note", /pictures in at least two classes/);
    await page.click("#ten-digits");
    await page.waitForSelector(".class:nth-child(10)");
    await page.click("#learn");
    const note = await untilText(page, "#lesson-note", /A new last layer has learned/);
    const [, tested, right] = /Of (\d+) pictures .*, (\d+) are recognized/.exec(note).map(Number);
    assert.ok(tested === 60 && right > 40, note);
    await untilLabel(page, "#loss", /loss 0\.\d+/);
    await drawLine(page, 0);
    await page.click("#classify");
    await untilText(page, "#guess", /^\d, \d+ % sure$/);

    const onnx = await saved(page, "onnx");
    assert.equal(onnx.name, "digits.onnx");
    const pictures = eg.rand([2, 1, 28, 28]);
    const model = await load(onnx.bytes);
    assert.deepEqual(model.outputs[0].shape, ["batch", 10]);
    const { scores } = await runModel(onnx.bytes, [pictures]);
    eg.testing.assertClose(scores, model.call(pictures).detach(), { rtol: 1e-4, atol: 1e-4 });
    const expected = model.getParameter("fc.weight").detach();
    const safetensors = await saved(page, "safetensors");
    eg.testing.assertClose(eg.io.loadSafetensors(safetensors.bytes)["fc.weight"], expected);
    const torch = await saved(page, "pt");
    eg.testing.assertClose((await eg.io.loadTorch(torch.bytes))["fc.weight"], expected);

    // The saved file is opened, and goes on from its weights, because it has ten outputs now.
    await give(page, onnx);
    await page.click("#ten-digits");
    await page.waitForSelector(".class:nth-child(10)");
    await page.click("#learn");
    await untilText(page, "#lesson-note", /^The last layer has learned/);
    const again = await load((await saved(page, "onnx")).bytes);
    assert.ok(!eg.equal(again.getParameter("fc.weight").detach(), expected));
    eg.testing.assertClose(
      again.getParameter("layer1.conv1.weight").detach(),
      model.getParameter("layer1.conv1.weight").detach(),
    );
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns classes of pictures that a visitor picks and draws", async () => {
    const { page, problems, close } = await openConverter(browser, site.plain);
    const network = new nn.Sequential(
      new nn.Conv2d(3, 4, 3, { stride: 2 }),
      new nn.ReLU(),
      new nn.AdaptiveAvgPool2d(1),
      new nn.Flatten(),
      new nn.Linear(4, 2),
      new nn.Softmax(1),
    );
    const inputs = [eg.zeros([1, 3, 32, 32])];
    await give(page, { name: "pictures.onnx", bytes: await save(network, { inputs }) });
    const [dark, light] = await Promise.all(
      ["#learn", "#clear"].map((id) => page.locator(id).screenshot()),
    );
    const pick = async (at, files) => {
      await page.locator(".class input[type=file]").nth(at).setInputFiles(files);
    };
    const pictureOf = (name, buffer) => ({ name, mimeType: "image/png", buffer });
    await pick(0, [pictureOf("a.png", dark), pictureOf("broken.png", Buffer.from("no picture"))]);
    await untilText(page, "#lesson-note", /broken\.png: no pictures/);
    await pick(1, [pictureOf("b.png", light), pictureOf("c.png", light)]);
    await untilText(page, ".class:nth-child(2) .number", /^2 pictures$/);
    await page.locator(".class input[type=text]").first().fill("button");
    await page.click("#add-class");
    await drawLine(page, 3);
    await page.locator(".class").nth(2).getByText("Add the drawing").click();
    await untilText(page, ".class:nth-child(3) .number", /^1 picture$/);
    await page.fill("#steps", "20");
    await page.click("#learn");
    await untilText(page, "#lesson-note", /A new last layer has learned 4 pictures in 20 steps/);
    const { bytes } = await saved(page, "onnx");
    const model = await load(bytes);
    const shares = model.call(eg.rand([1, 3, 32, 32])).detach();
    assert.deepEqual(shares.shape, [1, 3]);
    assert.ok(Math.abs(shares.sum().item() - 1) < 1e-5, "softmax is still behind the layer");
    await page.getByLabel("Remove the class").first().click();
    assert.equal(await page.locator(".class").count(), 2);
    assert.deepEqual(problems, []);
    await close();
  });

  test("opens weights of PyTorch and safetensors, and converts them", async () => {
    const { page, problems, close } = await openConverter(browser, site.plain);
    const weights = { "a.weight": eg.tensor([1, Number.NaN, 3]), n: eg.arange(4).reshape([2, 2]) };
    const torch = await eg.io.saveTorch({ epoch: 3, model: weights });
    await give(page, { name: "checkpoint.pt", bytes: torch });
    assert.match((await factsOf(page)).kind, /^PyTorch/);
    assert.deepEqual(
      await page
        .locator("#graph-card, #run-card, #teach-card, [data-format=onnx]")
        .evaluateAll((all) => all.filter((one) => one.offsetParent !== null).length),
      0,
    );
    await page.click("#measure");
    await page.waitForFunction(
      () => document.querySelector("#weights td:last-child")?.textContent === "1",
    );
    assert.deepEqual(await rowsOf(page, "#weights"), [
      ["model.a.weight", "[3]", "float32", "12", "1", "2", "3", "1"],
      ["model.n", "[2, 2]", "int64", "32", "0", "1.500", "3", "0"],
    ]);
    const file = await saved(page, "safetensors");
    assert.equal(file.name, "checkpoint.safetensors");
    await give(page, file);
    assert.match((await factsOf(page)).kind, /^safetensors/);
    const back = await eg.io.loadTorch((await saved(page, "pt")).bytes);
    assert.deepEqual(back["model.n"].tolist(), [
      [0, 1],
      [2, 3],
    ]);
    assert.deepEqual(problems, []);
    await close();
  });

  test("stays responsive with thousands of nodes, which open group by group, also by keys", async () => {
    const { page, problems, close } = await openConverter(browser, site.isolated);
    const long = (x) => {
      let y = x;
      for (let i = 0; i < 1000; i++) y = y.add(i).mul(0.5).sin();
      return y;
    };
    const bytes = await save(long, { inputs: [eg.zeros([2, 3])] });
    const task = await longestTask(browser, page, () => give(page, { name: "long.onnx", bytes }));
    assert.ok(task.processor < kLongestTask, `${task.processor} ms`);
    assert.ok(Number((await factsOf(page)).nodes.replace(",", "")) >= 3000);
    const groups = await boxesOf(page);
    assert.ok(groups.length < 100 && groups[1].startsWith("group "), String(groups.length));
    await page.locator("#graph .node").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      (count) => document.querySelectorAll("#graph[aria-busy=false] .node").length > count,
      groups.length,
    );
    assert.match(
      await page.evaluate(() => document.activeElement.getAttribute("aria-label")),
      /^Add/,
    );
    await page.keyboard.press("Enter");
    await untilText(page, "#node-details", /Add/);
    await page.click("#fold");
    await page.waitForFunction(
      (count) => document.querySelectorAll("#graph[aria-busy=false] .node").length === count,
      groups.length,
    );
    await page.click("#nodes-as-table summary");
    assert.equal((await rowsOf(page, "#nodes")).length, 50);
    await page.locator("#nodes").getByText("Next").click();
    await untilText(page, "#nodes output", /^51 to 100 of \d+$/);
    await page.click("#zoom-in");
    assert.deepEqual(problems, []);
    await close();
  });

  test("says why it cannot open or run a file, and keeps the one before", async () => {
    const { page, problems, close } = await openConverter(browser, site.plain);
    await openExample(page);
    const example = (await saved(page, "onnx")).bytes;
    for (const [name, bytes, reason] of [
      ["notes.txt", Buffer.from("hello"), /^notes\.txt is no \.onnx, \.pt or \.safetensors file/],
      ["empty.onnx", Buffer.alloc(0), /empty\.onnx is no .* without a graph/],
      ["cut.onnx", example.subarray(0, 5000), /cut\.onnx is no .* damaged bytes/],
      ["text.pt", Buffer.from("no pickle"), /text\.pt is no \.pt file/],
      [
        "cut.safetensors",
        Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0x7b]),
        /cut\.safetensors is no \.safetensors file/,
      ],
    ]) {
      await give(page, { name, bytes });
      assert.match(await page.textContent("#problem"), reason);
      assert.equal((await factsOf(page)).name, "digits.onnx");
    }
    const text = example.toString("latin1").replaceAll("Relu", "Rexu");
    await give(page, { name: "other.onnx", bytes: Buffer.from(text, "latin1") });
    assert.match(await page.textContent("#problem"), /unsupported features: op Rexu .*6 times/);
    assert.ok(
      (await boxesOf(page)).some(
        (label) => label.startsWith("Rexu") && label.endsWith("not supported"),
      ),
    );
    assert.equal(await page.isVisible("#run-card"), false);
    assert.equal(await page.isVisible("[data-format=onnx]"), false);
    await openExample(page);
    assert.equal(await page.isVisible("#problem"), false);
    assert.deepEqual(problems, []);
    await close();
  });

  test("takes a file that is dropped, fits on a phone, and is accessible", async () => {
    const { page, problems, close } = await openConverter(browser, site.plain, {
      viewport: { width: 390, height: 800 },
      colorScheme: "dark",
    });
    await page.evaluate(async () => {
      const response = await fetch("example/digits.onnx");
      const files = new DataTransfer();
      files.items.add(new File([await response.blob()], "dropped.onnx"));
      document
        .getElementById("drop")
        .dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
    });
    await untilText(page, "#status", /^dropped\.onnx is open\.$/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await page.click("#nodes-as-table summary");
    await page.click("#run");
    await page.waitForSelector("#results:not([hidden])");
    await assertAccessible(page);
    assert.deepEqual(problems, []);
    await close();
  });
});
