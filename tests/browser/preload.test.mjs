// The files of the engine are requested early, at the same time, and only once.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { until } from "../support/until.mjs";
import { buildWithVite } from "./support/bundlers.mjs";
import { noBrowser } from "./support/chromium.mjs";
import { assertPageTrains, kPath } from "./support/deployed.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

const isWasm = (path) => path.endsWith(".wasm");
const isCore = (path) => /edgegrad-\w+\.core(?:-[^/]*)?\.wasm$/.test(path);
const isScript = (path) => /edgegrad-\w+\.mjs$/.test(path);

describe("the files of the engine", { skip: noBrowser }, () => {
  const suite = useProject();

  const { serve } = suite;
  const start = ({ url }) => suite.start(url);

  for (const [headers, variant] of [
    [kIsolation, "relaxed"],
    [{}, "single"],
  ]) {
    test(`preload() requests those of "${variant}", which init() uses`, async () => {
      const { url, requests } = await serve(suite.project.folder, headers);
      const { before, ...result } = await resultOf(suite.browser, `${url}preload.html`);
      assert.deepEqual(result, { variant, gradient: 12 });
      assert.deepEqual(before.sort(), [`edgegrad-${variant}.core.wasm`, `edgegrad-${variant}.mjs`]);
      assert.equal(requests.filter(isCore).length, 1);
    });
  }

  // Opens a page whose server does not answer for some files, until it has requested all that `expected` matches: a
  // pattern that stands there twice is met by two requests.
  async function assertRequests(page, server, expected) {
    const open = await suite.browser.newPage();
    await open.goto(server.url + page, { waitUntil: "commit" });
    const isRequested = (pattern, index) => {
      const needed = expected.slice(0, index + 1).filter((other) => other === pattern).length;
      return server.requests.filter((path) => pattern.test(path)).length >= needed;
    };
    await until(
      () => `request for one of ${expected.join(" ")}, but for ${server.requests.join(" ")}`,
      () => expected.every(isRequested),
    );
    await open.close();
  }

  test("init() requests the WebAssembly file without waiting for the script", async () => {
    const isSilent = ({ url }) => isScript(url);
    const server = await serve(suite.project.folder, kIsolation, { isSilent });
    const expected = [/edgegrad-relaxed\.mjs$/, /edgegrad-relaxed\.core\.wasm$/];
    await assertRequests("start.html", server, expected);
  });

  test("are found by the script where they are not at the expected address", async () => {
    const isMissing = ({ url }) =>
      url.startsWith("/node_modules/edgegrad/dist/wasm/") && isWasm(url);
    let asked = 0;
    const server = await serve(suite.project.folder, kIsolation, {
      isRefused: (request) => isMissing(request) && asked++ === 0,
    });
    const { trained, variant } = await start(server);
    assert.equal(trained, true);
    assert.equal(variant, "relaxed");
    assert.equal(server.requests.filter(isWasm).length, 2);
  });

  test("are compiled if the server does not declare the type of WebAssembly", async () => {
    const server = await serve(suite.project.folder, kIsolation, {
      types: { ".wasm": "text/plain" },
    });
    const { trained, variant } = await start(server);
    assert.equal(trained, true);
    assert.equal(variant, "relaxed");
    assert.equal(server.requests.filter(isCore).length, 1);
  });

  test("that are not WebAssembly are an error of init()", async () => {
    const server = await serve(
      suite.project.folder,
      {},
      { types: { ".wasm": "text/html" }, contents: { ".wasm": "<html>" } },
    );
    const { error } = await start(server);
    assert.match(error, /^Internal: \[init\] the WebAssembly build "single" could not be started/);
  });

  test("are preloaded by a page that Vite has built with edgegrad/vite", async () => {
    const config = readFileSync(join(suite.project.folder, "deployed.config.mjs"), "utf8");
    const plugin = 'import edgegrad from "edgegrad/vite";\n';
    const withPlugin = config.replace(
      "export default {",
      "export default { plugins: [edgegrad()],",
    );
    writeFileSync(join(suite.project.folder, "preloading.config.mjs"), plugin + withPlugin);
    const page = { name: "deployed", workers: [], config: "preloading" };
    const folder = await buildWithVite(suite.project.folder, kPath, page);

    const isSilent = ({ url }) => /deployed-[^/]*\.js$/.test(url);
    const silent = await serve(folder, kIsolation, { base: kPath, isSilent });
    // The script of the page, that of its workers, and the core.
    const script = /edgegrad-relaxed-[^/]*\.js$/;
    const expected = [script, script, /edgegrad-relaxed\.core-[^/]*\.wasm$/];
    await assertRequests("deployed.html", silent, expected);
    assert.equal(silent.requests.filter((path) => script.test(path)).length, 2);

    for (const [headers, variant, threads] of [
      [kIsolation, "relaxed", 2],
      [{}, "single", 1],
    ]) {
      const { url, requests } = await serve(folder, headers, { base: kPath });
      await assertPageTrains(suite.browser, url, { threads });
      const fetched = requests.filter(isCore).map((path) => /edgegrad-(\w+)\./.exec(path)[1]);
      assert.deepEqual(fetched, [variant]);
    }
  });
});
