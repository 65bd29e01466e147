// The site without a network: after one visit every demo trains, with the threads of an isolated page, and a model goes on from
// where it was.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kIsolation } from "../../scripts/isolation.mjs";
import { serveFolder } from "../../scripts/serve_folder.mjs";
import { noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { until } from "../support/until.mjs";
import { kDemos, trainDemo } from "./support/demos.mjs";
import { stopTraining, trainTo } from "./support/digits_page.mjs";
import { complaintsOf, kSite, noSite } from "./support/pages.mjs";
import { numberIn, untilIsolated, untilText } from "./support/site.mjs";

const kBase = "/some/path/";

// What is kept is the same for both, so all demos train in one of them; the demo of digits trains in both.
for (const [title, headers, demos] of [
  ["a server that sends the headers for isolation", kIsolation, []],
  ["a server that sends no headers", {}, Object.keys(kDemos)],
]) {
  describe(`the site, visited once from ${title}`, { skip: noBrowser || noSite }, () => {
    let browser;
    let server;
    let page;
    let site;
    let steps;
    before(async () => {
      browser = await startChromium();
      server = await serveFolder(kSite, { base: kBase, headers });
      site = server.url;
      page = await browser.newPage();
    });
    after(async () => {
      await browser?.close();
      server?.stop();
    });

    test("trains, and keeps the demos meanwhile", async () => {
      await page.goto(`${site}digits/index.html`);
      await untilIsolated(page);
      await page.waitForSelector("#run:enabled");
      await trainTo(page, 50);
      steps = await numberIn(page, "#steps");
      await untilText(page, "#offline-note", /^The demos also work without a network\.$/);
    });

    // In one of them: what is kept is the same for both.
    const runsPython = async () => {
      await page.goto(`${site}notebook/index.html#python`);
      await untilIsolated(page);
      await page.mouse.move(1, 1);
      await page.locator("#cells .cell:first-child button").first().click();
      await untilText(page, "#cells .cell:first-child [role=log]", /torch\.Size/);
    };
    const skip = headers === kIsolation;
    test("runs Python in the notebook", { skip }, runsPython);

    test("can be installed", async () => {
      const session = await page.context().newCDPSession(page);
      const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
      const errors = installabilityErrors.map(({ errorId }) => errorId);
      // The pages of tests are private.
      assert.deepEqual(
        errors.filter((id) => id !== "in-incognito"),
        [],
      );
    });

    test("goes on with the model and the optimizer of the last visit when the server is gone", async () => {
      server.stop();
      await page.goto(`${site}digits/index.html`);
      await page.waitForSelector("#run:enabled");
      await untilText(page, "#run", /^Resume$/);
      assert.equal(await numberIn(page, "#steps"), steps);
      await page.click("#run");
      await page.waitForFunction(
        (steps) =>
          Number(document.getElementById("steps").textContent.replaceAll(",", "")) > steps + 20,
        steps,
      );
      await stopTraining(page);
    });

    test("runs Python without the server", { skip }, runsPython);

    for (const demo of demos) {
      test(`trains without the server: ${demo}`, async () => {
        const complaints = complaintsOf(page);
        await trainDemo(page, site, demo);
        assert.equal(await page.evaluate(() => crossOriginIsolated), true);
        assert.deepEqual(complaints, []);
      });
    }
  });
}

describe("the service worker", { skip: noBrowser || noSite }, () => {
  let browser;
  let server;
  before(async () => {
    browser = await startChromium();
    server = await serveFolder(kSite, { base: kBase });
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });

  test("adds the headers for threads, keeps the demos, and lets through what must come from the server", async () => {
    const context = await browser.newContext();
    const scripts = [];
    context.on("serviceworker", (worker) => scripts.push(worker.url()));
    const page = await context.newPage();
    await page.goto(server.url);
    await untilKept(page);
    const seen = await page.evaluate(async () => {
      const policy = async (cache) =>
        (await fetch("index.html", { cache })).headers.get("Cross-Origin-Embedder-Policy");
      return {
        worker: navigator.serviceWorker.controller.scriptURL.split("/").at(-1),
        kept: await policy("default"),
        sent: await policy("no-store"),
      };
    });
    assert.deepEqual(seen, { worker: "offline_worker.js", kept: "require-corp", sent: null });
    assert.deepEqual([...new Set(scripts)], [`${server.url}offline_worker.js`]);
    await context.close();
  });

  test("answers visitors who go on at once, while it still fetches the demos", async () => {
    for (let visit = 0; visit < 3; visit++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(server.url);
      await page.mouse.move(1, 1);
      await untilIsolated(page);
      await page.mouse.move(2, 2);
      // The server redirects to docs/.
      await page.goto(`${server.url}docs`);
      assert.equal(await page.evaluate(() => crossOriginIsolated), true);
      await context.close();
    }
  });

  test("isolates a page again after a reload that went around it", async () => {
    const page = await browser.newPage();
    await page.goto(server.url);
    await untilIsolated(page);
    const session = await page.context().newCDPSession(page);
    const loaded = page.waitForEvent("load");
    await session.send("Page.reload", { ignoreCache: true });
    await loaded;
    await untilIsolated(page);
    await page.close();
  });

  test("leaves the pages to the server while a file is missing, and keeps them when it is there again", async () => {
    const folder = copyOfSite();
    const own = await serveFolder(folder, { headers: kIsolation });
    const page = await browser.newPage();
    try {
      const missing = join(folder, "digits", "index.html");
      const text = readFileSync(missing);
      rmSync(missing);
      const refusal = page.waitForEvent("console", (message) =>
        message.text().startsWith("The demos are not kept for visits without a network: Error: "),
      );
      await page.goto(`${own.url}speed/index.html`);
      await page.mouse.move(1, 1);
      assert.match((await refusal).text(), /bad-precaching-response.*digits\/index\.html/);
      assert.equal(await page.textContent("#offline-note"), "");
      replaceIn(join(folder, "speed/index.html"), "<h1>", "<h1>Not kept: ");
      await page.reload();
      assert.match(await page.textContent("h1"), /^Not kept: Speed/);
      writeFileSync(missing, text);
      await page.reload();
      await untilKept(page);
      own.stop();
      await page.goto(`${own.url}digits/index.html`);
      assert.equal(await page.textContent("h1"), headingOf(text));
      await page.close();
    } finally {
      own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test("takes a new version of the site when all pages of the old one are closed, never a mixture", async () => {
    const folder = copyOfSite();
    const own = await serveFolder(folder, { headers: kIsolation });
    const context = await browser.newContext();
    const open = async () => {
      const page = await context.newPage();
      await page.goto(`${own.url}speed/index.html`);
      await untilKept(page);
      return page;
    };
    try {
      const first = await open();
      publish(folder, "speed/index.html", "<h1>Speed, commit by commit", "<h1>Newer");
      await first.reload();
      await first.waitForFunction(async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        return registration.waiting !== null;
      });
      await first.reload();
      assert.equal(await first.textContent("h1"), "Speed, commit by commit");
      // The browser puts the new worker to use some time after the last page is closed.
      const statusOf = await workersOf(context);
      const [waiting] = await until(
        () => `worker that waits: ${[...statusOf].join(" ")}`,
        () => [...statusOf].find(([, status]) => status === "installed"),
      );
      await first.close();
      await until("use of the new worker", () => statusOf.get(waiting) === "activated");
      assert.equal(await (await open()).textContent("h1"), "Newer");
      await context.close();
    } finally {
      own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test("keeps all pages of the docs when their button is pressed", async () => {
    const folder = copyOfSite();
    const files = ["index.html", "documents/Memory.html", "assets/main.js", "assets/style.css"];
    for (const name of files) cpSync(join(kSite, "docs", name), join(folder, "docs", name));
    const list = { bytes: 3_000_000, files: files.map((name) => `docs/${name}`) };
    writeFileSync(join(folder, "docs", "files.json"), JSON.stringify(list));
    const own = await serveFolder(folder, { base: kBase, headers: kIsolation });
    const page = await browser.newPage();
    try {
      await page.goto(`${own.url}docs/index.html`);
      await page.getByRole("button", { name: "(3 MB)" }).click();
      await untilText(page, "#keep-docs-note", /^The guide and the reference also work without/);
      own.stop();
      await page.goto(`${own.url}docs/documents/Memory.html`);
      assert.equal(await page.textContent("h1"), "Memory");
      await page.close();
    } finally {
      own.stop();
      rmSync(folder, { recursive: true });
    }
  });

  test("keeps the pages of the docs that were visited", async () => {
    const page = await browser.newPage();
    await page.goto(server.url);
    await untilIsolated(page);
    // The server redirects to docs/.
    await page.goto(`${server.url}docs`);
    const heading = await page.textContent("h1");
    // It stores a page after it has passed it on.
    await page.waitForFunction(async () => (await caches.match(location.href)) !== undefined);
    server.stop();
    await page.reload();
    assert.equal(await page.textContent("h1"), heading);
    await page.close();
  });
});

// Returns a map of the states of all service workers, which the browser keeps up to date.
async function workersOf(context) {
  const states = new Map();
  const session = await context.newCDPSession(await context.newPage());
  session.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
    for (const { versionId, status } of versions) states.set(versionId, status);
  });
  await session.send("ServiceWorker.enable");
  return states;
}

// Without the docs, which the worker does not keep.
function copyOfSite() {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-site-"));
  cpSync(kSite, folder, { recursive: true, filter: (path) => path !== join(kSite, "docs") });
  return folder;
}

function headingOf(page) {
  return /<h1>(.*?)<\/h1>/.exec(page.toString())[1];
}

// Changes a page, its entry in the worker's list, and the version, as a build does.
function publish(folder, name, before, after) {
  const worker = join(folder, "offline_worker.js");
  replaceIn(join(folder, name), before, after);
  replaceIn(worker, new RegExp(`(url:"${name}",revision:")\\w+`), "$1new");
  replaceIn(worker, /(complete-.*?\$\{\w+\})\w+/s, "$1new");
}

function replaceIn(file, from, to) {
  const text = readFileSync(file, "utf8");
  assert.ok(from instanceof RegExp ? from.test(text) : text.includes(from), file);
  writeFileSync(file, text.replace(from, to));
}

async function untilKept(page) {
  await untilIsolated(page);
  // The files are fetched when somebody is there.
  await page.mouse.move(1, 1);
  await untilText(page, "#offline-note", /^The demos also work/);
}
