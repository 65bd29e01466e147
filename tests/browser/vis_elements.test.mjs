// The custom elements of edgegrad/vis in real frameworks, and in pages that import it late.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { kRoot } from "../../scripts/process.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { startVisPages } from "./support/vis_page.mjs";

// One script per framework, with what the programs below need of it.
const kFrameworks = {
  "react.js": `export { createElement } from "react"; export { createRoot } from "react-dom/client";
    export { flushSync } from "react-dom";`,
  "vue.js": `export { createApp, h, nextTick, ref, shallowRef } from "vue/dist/vue.esm-browser.prod.js";`,
  "preact.js": `export { h, render } from "preact";`,
  "solid.js": `export { spread } from "solid-js/web";`,
};

async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: kRoot },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["browser"],
    define: { "process.env.NODE_ENV": '"production"' },
    nodePaths: [join(kRoot, "node_modules")],
  });
  return outputFiles[0].text;
}

const kLog = `
  const log = vis.createLog();
  log.run("first").addScalar("loss", 0.5, 1);
  log.run("first").addScalar("loss", 0.25, 2);
`;

describe("elements of edgegrad/vis", { skip: noBrowser }, () => {
  let pages;
  let scripts;
  before(async () => {
    const made = Object.entries(kFrameworks).map(async ([name, text]) => [
      name,
      await bundled(text),
    ]);
    scripts = Object.fromEntries(await Promise.all(made));
    pages = await startVisPages();
  });
  after(() => pages?.stop());

  const open = (body, script, options) => pages.open(body, script, { scripts, ...options });

  async function assertChart(page, selector = "eg-line-chart") {
    await page.locator(`${selector} canvas`).waitFor();
    const legend = await page.locator(`${selector} .legend li`).allTextContents();
    assert.deepEqual(legend, ["loss 0.25"]);
  }

  test("show the log that React has set, also where nothing calls defineElements()", async () => {
    const { page, problems } = await open(
      "<div id='root'></div>",
      `import { createElement, createRoot, flushSync } from "/react.js";
      ${kLog}
      const root = createRoot(document.querySelector("#root"));
      const shown = (log) => flushSync(() => root.render(createElement("eg-line-chart", { log, heading: "Loss" })));
      shown(log);
      globalThis.shown = shown;
      globalThis.attribute = document.querySelector("eg-line-chart").getAttribute("log");`,
    );
    await assertChart(page);
    assert.equal(await page.evaluate(() => globalThis.attribute), null);
    assert.equal(await page.locator("eg-line-chart figcaption").textContent(), "Loss");
    await page.evaluate(() => globalThis.shown(null));
    await page.locator("eg-line-chart .empty").waitFor();
    assert.deepEqual(problems, []);
  });

  test("show the log that Vue, Preact and Solid have set", async () => {
    const { page, problems } = await open(
      "<div id='vue'></div><div id='preact'></div><div id='solid'></div>",
      `import { createApp, h as vueElement, shallowRef } from "/vue.js";
      import { h, render } from "/preact.js";
      import { spread } from "/solid.js";
      ${kLog}
      const app = createApp({
        setup: () => ({ log: shallowRef(log) }),
        template: '<eg-line-chart :log="log" heading="Vue" />',
      });
      app.config.compilerOptions.isCustomElement = (name) => name.startsWith("eg-");
      app.mount("#vue");
      render(h("eg-line-chart", { log, heading: "Preact" }), document.querySelector("#preact"));
      const chart = document.createElement("eg-line-chart");
      document.querySelector("#solid").append(chart);
      // What Solid makes of <eg-line-chart {...props} />.
      spread(chart, { log, heading: "Solid" }, false, true);`,
    );
    for (const [id, heading] of [
      ["vue", "Vue"],
      ["preact", "Preact"],
      ["solid", "Solid"],
    ]) {
      await assertChart(page, `#${id} eg-line-chart`);
      assert.equal(await page.locator(`#${id} figcaption`).textContent(), heading);
    }
    assert.deepEqual(problems, []);
  });

  test("take over what was set before they were defined", async () => {
    const { page, problems } = await open(
      "<eg-line-chart scale='log'></eg-line-chart>",
      `const early = document.querySelector("eg-line-chart");
      const later = document.createElement("eg-tape-graph");
      globalThis.isKnown = "log" in early;
      const stub = { runs: [], listen: () => ({ remove() {} }) };
      early.log = stub;
      const graph = { nodes: [{ name: "AddBackward0", detail: "" }], edges: [] };
      later.graph = graph;
      later.heading = "Graph";
      document.querySelector("main").append(later);
      const vis = await import("edgegrad/vis");
      ${kLog}
      globalThis.seen = [early.log === stub, Object.hasOwn(early, "log"), later.graph === graph, later.getAttribute("heading")];
      early.log = log;`,
      { isLate: true },
    );
    assert.equal(await page.evaluate(() => globalThis.isKnown), false);
    assert.deepEqual(await page.evaluate(() => globalThis.seen), [true, false, true, "Graph"]);
    await assertChart(page);
    assert.equal(await page.locator("eg-line-chart input[type=checkbox]").isChecked(), true);
    assert.deepEqual(problems, []);
  });

  test("have their properties before anything is loaded, and refuse what they cannot show", async () => {
    const { page } = await open("", "");
    const found = await page.evaluate(() =>
      Object.entries({
        "attention-map": "log",
        "confusion-matrix": "log",
        histogram: "log",
        "image-grid": "log",
        "line-chart": "log",
        profile: "profile",
        projector: "log",
        "summary-table": "summary",
        "tape-graph": "graph",
      }).map(([name, property]) => {
        const made = document.createElement(`eg-${name}`);
        const isThere = property in made && made[property] === null;
        made[property] = undefined;
        try {
          made[property] = "no";
        } catch (error) {
          return [
            isThere,
            error.code,
            error.message.startsWith(`[eg-${name}] ${property}: expected `),
          ];
        }
        return "nothing was thrown";
      }),
    );
    assert.deepEqual(found, new Array(9).fill([true, "InvalidArgument", true]));
  });

  test("say that a property has to be set where a framework wrote an attribute", async () => {
    const { problems } = await open(
      "<eg-tape-graph graph='text'></eg-tape-graph><eg-line-chart heading='Loss'></eg-line-chart>",
      `const chart = document.querySelector("eg-line-chart");
      chart.setAttribute("log", vis.createLog());
      chart.setAttribute("tags", {});
      chart.removeAttribute("log");`,
    );
    const said = (name, attribute, text, advice) =>
      `[${name}] the attribute "${attribute}" is "${text}", as attributes are text; ${advice}.`;
    const object = "[object Object]";
    assert.deepEqual(problems, [
      said("eg-tape-graph", "graph", "text", "set the property: element.graph = ..."),
      said("eg-line-chart", "log", object, "set the property: element.log = ..."),
      said("eg-line-chart", "tags", object, "give it a text"),
    ]);
  });

  test("say that what draws them cannot be loaded", async () => {
    const { page, problems } = await open("", "");
    await page.route(/\/vis\/elements-\w+\.js$/, (route) => route.abort());
    await page.evaluate(() => {
      document.body.append(document.createElement("eg-histogram"));
      return globalThis.vis.defineElements().catch(() => {});
    });
    const [first] = problems.filter((text) => text.startsWith("[eg-histogram]"));
    assert.match(first, /^\[eg-histogram\] the code that draws it cannot be loaded: TypeError/);
  });
});
