// The panels of edgegrad/vis in a page of plain files.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertAccessible } from "../site/support/accessible.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { drawn, startVisPages, takePicture } from "./support/vis_page.mjs";

// Runs that look like trainings, with the same numbers every time.
const kRuns = `
  const log = vis.createLog();
  const noise = (i) => Math.sin(i * 12.9898) * 0.5;
  for (const [name, rate] of [["adam", 25], ["sgd", 60]]) {
    const run = log.run(name);
    for (let step = 0; step <= 200; step += 2)
      run.addScalar("loss/train", 2 * Math.exp(-step / rate) + 0.2 + 0.15 * noise(step + rate), step);
  }
`;

describe("panels", { skip: noBrowser }, () => {
  let pages;
  before(async () => {
    pages = await startVisPages();
  });
  after(() => pages?.stop());

  const textOf = (page, selector) =>
    page.locator(selector).evaluateAll((found) => found.map((one) => one.textContent));

  // A table is filled in an event after the click.
  async function openTable(page, panel) {
    await page.locator(`${panel} summary`).click();
    await page.locator(`${panel} tbody tr`).first().waitFor();
  }

  test("are loaded by the first element of a page, or defineElements()", async () => {
    const { page, requests } = await pages.open("", "vis.createLog();");
    const scripts = (await requests()).map((name) => new URL(name).pathname);
    assert.deepEqual(
      scripts.filter((name) => /vis.*elements/.test(name)),
      [],
    );
    await page.evaluate(() => globalThis.vis.defineElements());
    const isPanels = (name) => /\/vis\/elements-\w+\.js$/.test(name);
    assert.ok((await requests()).some(isPanels));
    const other = await pages.open("<eg-histogram></eg-histogram>", "vis.createLog();");
    await other.page.locator("eg-histogram .empty").waitFor();
    assert.ok((await other.requests()).some(isPanels));
  });

  test("are drawn where the browser has no language", async () => {
    const { page, problems } = await pages.open(
      `<eg-line-chart heading="Loss" tags="loss/train"></eg-line-chart>`,
      `Object.defineProperty(navigator, "language", { value: "C", configurable: true });
      ${kRuns}
      document.querySelector("eg-line-chart").log = log;
      await vis.defineElements();`,
    );
    assert.equal(await page.locator("eg-line-chart canvas").count(), 1);
    assert.deepEqual(problems, []);
  });

  test("line charts show runs, follow the log, and smooth", async () => {
    const { page, problems } = await pages.open(
      `<eg-line-chart heading="Loss" tags="loss/train" smoothing="0.8"></eg-line-chart>`,
      `${kRuns}
      const chart = document.querySelector("eg-line-chart");
      chart.log = log;
      globalThis.log = log;
      await vis.defineElements();`,
    );
    assert.deepEqual(await textOf(page, "eg-line-chart figcaption"), ["Loss"]);
    assert.equal(await page.locator("eg-line-chart canvas").count(), 1);
    const legend = await textOf(page, "eg-line-chart .legend li");
    assert.equal(legend.length, 2);
    assert.match(legend[0], /^adam 0\.\d+$/);
    await takePicture(page, "eg-line-chart", "line_chart");
    const smoothed = legend[0];
    await page.locator("eg-line-chart input[type=range]").fill("0");
    await drawn(page);
    assert.notEqual((await textOf(page, "eg-line-chart .legend li"))[0], smoothed);
    await page.evaluate(() => globalThis.log.run("adam").addScalar("loss/train", 7.5, 202));
    await drawn(page);
    assert.equal((await textOf(page, "eg-line-chart .legend li"))[0], "adam 7.5");
    const label = await page.getAttribute("eg-line-chart .plot", "aria-label");
    assert.match(label, /^Loss, adam 7\.5, sgd /);
    await openTable(page, "eg-line-chart");
    const rows = await page.locator("eg-line-chart tbody tr").count();
    assert.equal(rows, 102);
    assert.deepEqual(await textOf(page, "eg-line-chart tbody tr:last-child > *"), [
      "202",
      "7.5",
      "",
    ]);
    assert.deepEqual(problems, []);
  });

  test("take their colors from the page, and change with it", async () => {
    const { page } = await pages.open(
      `<style>eg-line-chart { --eg-series-1: rgb(255, 0, 0); }</style><eg-line-chart></eg-line-chart>`,
      `const log = vis.createLog();
      document.querySelector("eg-line-chart").log = log;
      for (let i = 0; i < 9; i++) log.run("a").addScalar("x", i, i);
      await vis.defineElements();`,
    );
    const painted = (red, green) =>
      page.waitForFunction(
        ([red, green]) => {
          const canvas = document.querySelector("eg-line-chart").shadowRoot.querySelector("canvas");
          if (canvas === null) return false;
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          for (let i = 0; i < data.length; i += 4)
            if (
              data[i] === red &&
              data[i + 1] === green &&
              data[i + 2] === 0 &&
              data[i + 3] === 255
            )
              return true;
          return false;
        },
        [red, green],
      );
    await painted(255, 0);
    await page.evaluate(() => {
      const chart = document.querySelector("eg-line-chart");
      chart.style.setProperty("--eg-series-1", "rgb(0, 255, 0)");
      chart.redraw();
    });
    await painted(0, 255);
    // A change of the page's theme needs no call. It may replace the canvas, so the picture is read in one step.
    const picture = async () => {
      const found = await page.waitForFunction(() =>
        document.querySelector("eg-line-chart").shadowRoot.querySelector("canvas")?.toDataURL(),
      );
      return found.jsonValue();
    };
    await page.emulateMedia({ colorScheme: "light" });
    await drawn(page);
    const light = await picture();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForFunction((light) => {
      const { shadowRoot } = document.querySelector("eg-line-chart");
      const canvas = shadowRoot.querySelector("canvas");
      return canvas !== null && canvas.toDataURL() !== light;
    }, light);
  });

  test("histograms show a series, step by step", async () => {
    const { page, problems } = await pages.open(
      `<eg-histogram></eg-histogram>`,
      `const log = vis.createLog();
      const bell = (i) => [1, 2, 3, 4].reduce((sum, k) => sum + Math.sin(i * 12.9898 * k + k), 0);
      for (const step of [0, 10, 20])
        for (const name of ["weight/0.weight", "gradient/0.weight"])
          log.run("a").addHistogram(name, Array.from({ length: 2000 }, (_, i) => bell(i + step) / (step + 5)), step);
      document.querySelector("eg-histogram").log = log;
      await vis.defineElements();`,
    );
    assert.deepEqual(await textOf(page, "eg-histogram figcaption"), ["weight/0.weight"]);
    assert.deepEqual(await textOf(page, "eg-histogram label:not([hidden]) option"), [
      "weight/0.weight",
      "gradient/0.weight",
    ]);
    assert.deepEqual(await textOf(page, "eg-histogram output"), ["20"]);
    await takePicture(page, "eg-histogram", "histogram");
    await page.locator("eg-histogram input[type=range]").fill("0");
    await page.locator("eg-histogram select").nth(1).selectOption("gradient/0.weight");
    await drawn(page);
    assert.deepEqual(await textOf(page, "eg-histogram output"), ["0"]);
    await openTable(page, "eg-histogram");
    assert.equal(await page.locator("eg-histogram tbody tr").count(), 30);
    const counts = await textOf(page, "eg-histogram tbody td");
    assert.equal(
      counts.map(Number).reduce((a, b) => a + b),
      2000,
    );
    assert.deepEqual(problems, []);
  });

  test("matrices are tables with names, shaded by their values", async () => {
    const { page, problems } = await pages.open(
      `<eg-confusion-matrix heading="Test pictures" tag="confusion"></eg-confusion-matrix>
      <eg-attention-map heading="Head 0" tag="attention"></eg-attention-map>`,
      `const log = vis.createLog();
      const run = log.run("a");
      const names = ["cat", "dog", "<b>owl</b>"];
      const counts = [[48, 2, 0], [5, 44, 1], [0, 3, 47]];
      run.addMatrix("confusion", counts, 1, { rows: names, columns: names });
      const words = "the cat sat on the mat".split(" ");
      const rows = words.map((_, i) => words.map((_, j) => (j > i ? 0 : 1 / (1 + (i - j) ** 2))));
      const attention = rows.map((row) => row.map((value) => value / row.reduce((a, b) => a + b)));
      run.addMatrix("attention", attention, 1, { rows: words, columns: words });
      for (const panel of document.querySelectorAll("main > *:not(h1)")) panel.log = log;
      await vis.defineElements();`,
    );
    assert.deepEqual(await textOf(page, "eg-confusion-matrix tbody tr:nth-child(2) > *"), [
      ...["dog", "5", "44", "1"],
    ]);
    assert.deepEqual(await textOf(page, "eg-confusion-matrix thead th:last-child"), ["<b>owl</b>"]);
    const colorOf = (row, column) =>
      page
        .locator(`eg-confusion-matrix tbody tr:nth-child(${row}) > :nth-child(${column})`)
        .evaluate((cell) => getComputedStyle(cell).backgroundColor);
    assert.notEqual(await colorOf(1, 2), await colorOf(1, 4));
    assert.equal(await colorOf(1, 4), await colorOf(3, 2));
    assert.deepEqual(await textOf(page, "eg-attention-map tbody tr:first-child > *"), [
      ...["the", "1", "0", "0", "0", "0", "0"],
    ]);
    // There is nothing to choose among.
    assert.equal(await page.locator("eg-attention-map .controls").isVisible(), false);
    await takePicture(page, "eg-confusion-matrix", "confusion_matrix");
    await takePicture(page, "eg-attention-map", "attention_map");
    assert.deepEqual(problems, []);
  });

  test("pictures are shown with their pixels, the newest of every series or all of one", async () => {
    const { page, problems } = await pages.open(
      `<eg-image-grid heading="Samples"></eg-image-grid>`,
      `import * as eg from "edgegrad";
      await eg.init();
      const log = vis.createLog();
      const run = log.run("a");
      const size = 16;
      const ramp = eg.arange(size, { dtype: "float32" }).div(size - 1);
      const square = (red, green, blue) => eg.stack([red, green, blue].map((one) => one.expand([size, size])));
      run.addImage("first", square(ramp, ramp.reshape([size, 1]), eg.zeros([1])), 1);
      run.addImage("first", square(ramp, eg.zeros([1]), ramp.reshape([size, 1])), 2);
      run.addImage("second", eg.rand([1, size, size]), 5);
      document.querySelector("eg-image-grid").log = log;
      await vis.defineElements();`,
    );
    assert.deepEqual(await textOf(page, "eg-image-grid li"), ["first, step 2", "second, step 5"]);
    const pixels = await page
      .locator("eg-image-grid canvas")
      .first()
      .evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, 16, 16);
        return [...data.slice(0, 4), ...data.slice(-4)];
      });
    assert.deepEqual(pixels, [0, 0, 0, 255, 255, 0, 255, 255]);
    await takePicture(page, "eg-image-grid", "image_grid");
    await page.evaluate(() => document.querySelector("eg-image-grid").setAttribute("tag", "first"));
    await drawn(page);
    assert.deepEqual(await textOf(page, "eg-image-grid li"), ["step 1", "step 2"]);
    assert.deepEqual(problems, []);
  });

  test("summaries are tables with their totals", async () => {
    const { page, problems } = await pages.open(
      `<eg-summary-table></eg-summary-table>`,
      `import * as eg from "edgegrad";
      await eg.init();
      const { nn } = eg;
      const head = new nn.Sequential(new nn.Flatten(), new nn.Linear(8 * 169, 10));
      const model = new nn.Sequential(new nn.Conv2d(1, 8, 3), new nn.ReLU(), new nn.MaxPool2d(2), head);
      const found = vis.summary(model, [1, 1, 28, 28]);
      document.querySelector("eg-summary-table").summary = structuredClone(found);
      await vis.defineElements();`,
    );
    assert.deepEqual(await textOf(page, "eg-summary-table tbody tr:nth-child(2) > *"), [
      ...["0: Conv2d", "[1, 1, 28, 28]", "[1, 8, 26, 26]", "80", "48,672"],
    ]);
    assert.equal((await textOf(page, "eg-summary-table dd"))[0], "13,610");
    await takePicture(page, "eg-summary-table", "summary_table");
    assert.deepEqual(problems, []);
  });

  test("points of an embedding are colored by their labels", async () => {
    const { page, problems } = await pages.open(
      `<eg-projector heading="Embedding"></eg-projector>`,
      `import * as eg from "edgegrad";
      await eg.init();
      eg.manualSeed(1);
      const names = ["cat", "dog", "owl"];
      const points = eg.cat(names.map((_, i) => eg.randn([40, 8]).add(eg.randn([8]).mul(3))));
      const log = vis.createLog();
      const labels = names.flatMap((name) => new Array(40).fill(name));
      log.run("a").addMatrix("embedding", vis.pca(points), 1, { rows: labels });
      document.querySelector("eg-projector").log = log;
      await vis.defineElements();`,
    );
    assert.deepEqual((await textOf(page, "eg-projector .legend li")).sort(), ["cat", "dog", "owl"]);
    await takePicture(page, "eg-projector", "projector");
    await openTable(page, "eg-projector");
    assert.equal(await page.locator("eg-projector tbody tr").count(), 120);
    assert.deepEqual(problems, []);
  });

  test("the backward graph is drawn with its leaves, and its layout loaded for it", async () => {
    const { page, problems, requests } = await pages.open(
      `<eg-tape-graph></eg-tape-graph>`,
      `import * as eg from "edgegrad";
      await eg.init();
      await vis.defineElements();
      const { nn } = eg;
      globalThis.show = () => {
        const model = new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU(), new nn.Linear(3, 1));
        const loss = model.call(eg.ones([4, 2])).square().mean();
        document.querySelector("eg-tape-graph").graph = vis.tapeGraph(loss, model);
      };`,
    );
    const loaded = async () => (await requests()).some((name) => /\/vis\/layout-/.test(name));
    assert.equal(await loaded(), false);
    await page.evaluate(() => globalThis.show());
    await page.waitForSelector("eg-tape-graph rect");
    assert.equal(await loaded(), true);
    const texts = await textOf(page, "eg-tape-graph g");
    assert.equal(texts[0], "MeanBackward0");
    assert.equal(texts.filter((text) => text.startsWith("AccumulateGrad")).length, 4);
    assert.ok(texts.includes("AccumulateGrad2.weight"));
    await takePicture(page, "eg-tape-graph", "tape_graph");
    assert.deepEqual(problems, []);
  });

  test("a profile is a timeline, and the time by op, layer and thread", async () => {
    const { page, problems } = await pages.open(
      `<eg-profile></eg-profile>`,
      `import * as eg from "edgegrad";
      await eg.init();
      const { nn } = eg;
      const model = new nn.Sequential(new nn.Linear(512, 512), new nn.ReLU(), new nn.Linear(512, 10));
      const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.01 });
      const x = eg.randn([256, 512]);
      const step = () => eg.scope(() => {
        optimizer.zeroGrad();
        model.call(x).square().mean().backward();
        optimizer.step();
      });
      step();
      const profile = vis.profileStep(model, step);
      globalThis.count = profile.events.length;
      // As it comes from a worker.
      document.querySelector("eg-profile").profile = structuredClone(profile);
      await vis.defineElements();`,
    );
    const count = await page.evaluate(() => globalThis.count);
    assert.equal(await page.locator("eg-profile rect").count(), count);
    assert.ok(
      (await textOf(page, "eg-profile title")).some((text) => text.startsWith("linear, layer 0: ")),
    );
    assert.deepEqual(await textOf(page, "eg-profile caption"), [
      ...["Time by op", "Time by layer", "Time by thread"],
    ]);
    await takePicture(page, "eg-profile", "profile");
    await assertAccessible(page);
    assert.deepEqual(problems, []);
  });

  test("are accessible, with their tables open", async () => {
    const { page, problems } = await pages.open(
      `<eg-line-chart heading="a" smoothing="0.5"></eg-line-chart><eg-histogram heading="b"></eg-histogram>
      <eg-confusion-matrix heading="c"></eg-confusion-matrix><eg-attention-map heading="d"></eg-attention-map>
      <eg-image-grid heading="e"></eg-image-grid>`,
      `${kRuns}
      const run = log.run("adam");
      for (const step of [1, 2]) {
        run.addHistogram("h", [1, 2, 3], step);
        run.addMatrix("m", [[1, 0.5], [0, 1]], step);
      }
      const picture = { height: 1, width: 1, channels: 1, data: Uint8Array.of(9) };
      run.take({ kind: "image", tag: "i", step: 1, wallTime: 0, value: picture });
      for (const panel of document.querySelectorAll("main > *:not(h1)")) panel.log = log;
      await vis.defineElements();`,
    );
    for (const summary of await page.locator("summary:visible").all()) await summary.click();
    await page.locator("details table").nth(2).waitFor();
    assert.equal(await page.locator("details table").count(), 3);
    // Wide tables scroll inside their panels.
    await page.setViewportSize({ width: 390, height: 844 });
    await drawn(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await assertAccessible(page);
    assert.deepEqual(problems, []);
  });

  test("refuse properties that are no log, summary, graph or profile", async () => {
    const { page } = await pages.open(
      "<eg-histogram></eg-histogram><eg-summary-table></eg-summary-table><eg-tape-graph></eg-tape-graph><eg-profile></eg-profile>",
      "await vis.defineElements();",
    );
    const errors = await page.evaluate(() =>
      Object.entries({
        histogram: "log",
        "summary-table": "summary",
        "tape-graph": "graph",
        profile: "profile",
      }).map(([name, property]) => {
        try {
          document.querySelector(`eg-${name}`)[property] = {};
        } catch (error) {
          return `${error.code} ${error.message}`;
        }
        return "nothing was thrown";
      }),
    );
    assert.equal(errors.length, 4);
    for (const error of errors)
      assert.match(error, /^InvalidArgument \[eg-[\w-]+\] \w+: expected /);
  });

  test("that leave the page let go of the log, and show it again when they come back", async () => {
    const { page, problems } = await pages.open(
      `<eg-line-chart></eg-line-chart>`,
      `await vis.defineElements();
      const log = vis.createLog();
      const chart = document.querySelector("eg-line-chart");
      chart.log = log;
      const [main] = document.querySelectorAll("main");
      for (let i = 0; i < 3; i++) {
        chart.remove();
        log.run("a").addScalar("x", i, i);
        main.append(chart);
      }`,
    );
    assert.deepEqual(await textOf(page, "eg-line-chart .legend li"), ["x 2"]);
    assert.equal(await page.locator("eg-line-chart canvas").count(), 1);
    await page.evaluate(() => {
      document.querySelector("eg-line-chart").log = null;
    });
    await drawn(page);
    assert.deepEqual(await textOf(page, "eg-line-chart .empty"), ["No values yet"]);
    assert.deepEqual(problems, []);
  });
});
