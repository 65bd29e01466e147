// The course on backpropagation: every number is the engine's, at every step.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { openPage, startSite, untilText } from "./support/site.mjs";

const kPage = "backprop/index.html";

describe("the course on backpropagation", { skip: noBrowser }, () => {
  let site;
  let browser;
  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  async function open(hash, address = site.isolated) {
    const opened = await openPage(browser, address + kPage + hash);
    await untilText(opened.page, "#count", /of/);
    return opened;
  }

  for (const kind of ["isolated", "plain"]) {
    test(`computes values forward and gradients backward, ${kind}`, async () => {
      const { page, problems, close } = await open("#error", site[kind]);
      const moments = [await boxes(page)];
      while (await page.locator("#forward").isEnabled()) {
        await page.keyboard.press("ArrowRight");
        moments.push(await boxes(page));
      }
      const inputs = { w: ["2", ""], x: ["3", ""], y: ["4", ""] };
      const none = ["…", ""];
      assert.deepEqual(moments, [
        { ...inputs, "w·x (×)": none, "difference (−)": none, "error (square)": none },
        { ...inputs, "w·x (×)": ["6", ""], "difference (−)": none, "error (square)": none },
        { ...inputs, "w·x (×)": ["6", ""], "difference (−)": ["2", ""], "error (square)": none },
        ...[
          ["", "", "", "", ""],
          ["", "", "", "", "grad 1"],
          ["", "", "", "grad 4", "grad 1"],
          ["", "", "grad 4", "grad 4", "grad 1"],
          ["grad 12", "grad 8", "grad 4", "grad 4", "grad 1"],
        ].map(([w, x, product, difference, error]) => ({
          w: ["2", w],
          x: ["3", x],
          y: ["4", ""],
          "w·x (×)": ["6", product],
          "difference (−)": ["2", difference],
          "error (square)": ["4", error],
        })),
      ]);
      assert.deepEqual(await passed(page), ["× 3 = 12", "× 2 = 8", "× 1 = 4", "× 4 = 4"]);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("computes everything again when a number is dragged", async () => {
    const { page, close } = await open("#error?step=7");
    await page.locator("#inputs input").first().fill("1");
    await untilText(page, "#graph", /grad −6/);
    assert.deepEqual((await boxes(page)).w, ["1", "grad −6"]);
    // 60 px are a unit.
    const box = await page.locator(".draggable").filter({ hasText: "x" }).first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 200, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(
      () => document.querySelectorAll("#graph .number")[1].textContent === "4",
    );
    // The gradient of (1 · 4 − 4)² is 0.
    assert.match((await boxes(page)).w[1], /^grad −?0$/);
    await close();
  });

  test("adds the gradients of two paths", async () => {
    const { page, close } = await open("#paths?x=1&u=2&v=0.5&a=1&y=0&step=17");
    const received = Number((await boxes(page)).x[1].replace("grad ", ""));
    const right = Math.tanh(0.5);
    const expected = 2 * (2 + right) * (2 + 0.5 * (1 - right ** 2));
    assert.ok(Math.abs(received - expected) < 1e-3 * expected, `${received}, not ${expected}`);
    await close();
  });

  test("checks predictions against the engine", async () => {
    const { page, close } = await open("#cross_entropy");
    const share = 1 / (1 + Math.E + Math.exp(-0.5));
    for (const [given, verdict] of [
      ["1", /^No: −4.32/],
      [String(-1 / share), /^Yes/],
      ["what", /Type a number/],
    ]) {
      await page.fill("#question input", given);
      await page.click("#question button");
      assert.match(await page.textContent(".verdict"), verdict);
    }
    await close();
  });

  test("runs the programs whose lines it shows", async () => {
    const { page, problems, close } = await open("#retain_graph?step=4");
    const watched = async () =>
      Object.fromEntries(
        await page
          .locator(".watched div")
          .evaluateAll((rows) => rows.map((row) => [...row.children].map((x) => x.textContent))),
      );
    assert.equal((await watched())["x.grad?.item()"], "12");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent(".problem"), /^GraphFreed/);
    await goTo(page, "Changed in place");
    await page.keyboard.press("End");
    assert.match(await untilText(page, ".problem", /./), /^ModifiedInPlace/);
    await goTo(page, "The gradient of a gradient");
    await page.keyboard.press("End");
    await untilText(page, ".watched", /third/);
    assert.equal((await watched())["third.item()"], "6");
    assert.deepEqual(problems, []);
    await close();
  });

  test("goes through every chapter, has one right answer, and links to the exact state", async () => {
    const { page, problems, close } = await open("");
    const titles = await page.locator("#chapters a").allTextContents();
    for (const title of titles) {
      await goTo(page, title);
      const count = Number((await page.textContent("#count")).split(" of ")[1]);
      for (let step = 1; step <= count; step++) {
        await page.keyboard.press("ArrowRight");
        assert.notEqual(await page.textContent("#explanation"), "");
      }
      await page.waitForFunction((last) => location.hash.endsWith(`step=${last}`), count);
      const answers = await page.locator(".choices button").all();
      const verdicts = [];
      for (const answer of answers) {
        await answer.click();
        verdicts.push((await page.textContent(".choices + .verdict")).startsWith("Yes"));
      }
      if (answers.length > 0) assert.equal(verdicts.filter(Boolean).length, 1);
    }
    await page.goto(`${site.isolated + kPage}#neuron?b=1.5&step=5`);
    await page.reload();
    await untilText(page, "#count", /^5 of/);
    assert.equal((await boxes(page)).b[0], "1.5");
    assert.deepEqual(problems, []);
    await close();
  });
});

/** Opens a chapter by its title. */
async function goTo(page, title) {
  await page.getByRole("link", { name: title, exact: true }).click();
  await page.locator("#title", { hasText: title }).waitFor();
  await untilText(page, "#count", /of/);
}

/** The boxes of the graph: by their titles the value and the gradient. */
async function boxes(page) {
  return Object.fromEntries(
    await page
      .locator("#graph .node")
      .evaluateAll((nodes) =>
        nodes.map((node) => [
          node.querySelector(".name").textContent,
          [".number", ".gradient"].map((part) => node.querySelector(part).textContent),
        ]),
      ),
  );
}

/** What has passed along the edges. */
function passed(page) {
  return page
    .locator("#graph .passed")
    .evaluateAll((labels) => labels.map(({ textContent }) => textContent).filter(Boolean));
}
