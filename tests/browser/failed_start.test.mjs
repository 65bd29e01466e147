// What init() says in a page in which it cannot start, and in service workers, which cannot load scripts later.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { noBrowser } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { serveFiles } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

const kPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const kPage = { headers: { "Content-Type": "text/html" }, content: "<!doctype html><p>Home" };
const isWasm = ({ url }) => url.endsWith(".wasm");
const isScript = ({ url, headers }) =>
  /edgegrad-\w+\.mjs$/.test(url) && headers["sec-fetch-dest"] !== "worker";

describe("a start that fails says", { skip: noBrowser }, () => {
  const suite = useProject();

  const { start } = suite;
  const serve = async (headers, answer) =>
    (await suite.serve(suite.project.folder, headers, { answer })).url;

  const cases = {
    "404 and the address of the WebAssembly file": {
      answer: (request) => isWasm(request) && { status: 404 },
      error: /edgegrad-relaxed\.core\.wasm answered 404/,
    },
    "503 and the address of the WebAssembly file": {
      answer: (request) => isWasm(request) && { status: 503 },
      error: /http:.*edgegrad-relaxed\.core\.wasm answered 503/,
    },
    "404 and the address of the script": {
      answer: (request) => isScript(request) && { status: 404 },
      error: /http:.*edgegrad-relaxed\.mjs answered 404/,
    },
    "that the WebAssembly file is a page": {
      answer: (request) => isWasm(request) && kPage,
      error: /http:.*edgegrad-relaxed\.core\.wasm answered with an HTML page/,
    },
    "that the script is a page": {
      answer: (request) => isScript(request) && kPage,
      error: /http:.*edgegrad-relaxed\.mjs answered with an HTML page/,
    },
  };
  for (const [what, { answer, error }] of Object.entries(cases)) {
    test(what, async () => {
      const url = await serve(kIsolation, (request) => answer(request) || undefined);
      const result = await start(url);
      assert.match(result.error, /^Internal: \[init\] the WebAssembly build "relaxed" could not/);
      assert.match(result.error, error);
      assert.match(result.error, /Serve the package's folder dist\/wasm/);
    });
  }

  test("that there is no network", async () => {
    const server = await serveFiles(suite.project.folder, kIsolation);
    const page = await suite.browser.newPage();
    const options = encodeURIComponent("{}");
    await page.goto(`${server.url}start.html?options=${options}&waits`);
    await page.context().setOffline(true);
    await page.evaluate(() => globalThis.go());
    await page.waitForFunction(() => document.body.textContent.startsWith("{"));
    const { error } = JSON.parse(await page.evaluate(() => document.body.textContent));
    await page.close();
    server.stop();
    assert.match(error, /^Internal: \[init\].*http:.*edgegrad-relaxed.* this device is offline/);
  });

  test("worker-src, where a policy allows no workers", async () => {
    const policy = `${kPolicy}; worker-src 'none'`;
    const url = await serve({ ...kIsolation, "Content-Security-Policy": policy });
    const { warnings, variant } = await start(url);
    assert.equal(variant, "single");
    assert.match(warnings.join("\n"), /content security policy.*worker-src/);
    const { error } = await start(url, { variant: "relaxed" });
    assert.match(error, /^Internal: \[init\] the workers.*worker-src/);
  });

  test("which header the workers' script lacks", async () => {
    const script = join(
      suite.project.folder,
      "node_modules/edgegrad/dist/wasm/edgegrad-relaxed.mjs",
    );
    const bare = {
      headers: { "Content-Type": "text/javascript" },
      content: readFileSync(script),
    };
    const isBare = ({ url }) => url.endsWith("edgegrad-relaxed.mjs");
    const url = await serve(kIsolation, (request) => (isBare(request) ? bare : undefined));
    const { warnings, variant } = await start(url);
    assert.equal(variant, "single");
    assert.match(
      warnings.join("\n"),
      /edgegrad-relaxed\.mjs is sent without the header Cross-Origin-Embedder-Policy: require-corp/,
    );
  });

  test("memory, where there is none, and not folders", async () => {
    const { error } = await start(await serve({}), {}, { memory: "none" });
    assert.match(error, /^OutOfMemory: \[init\].*Cannot allocate.*memory: \{ maximum \}/);
    assert.doesNotMatch(error, /folder/);
  });
});

describe("a service worker", { skip: noBrowser }, () => {
  const suite = useProject();

  const resultIn = async (script, headers) => {
    const server = await suite.serve(suite.project.folder, headers);
    return await resultOf(suite.browser, `${server.url}service.html?script=${script}`);
  };

  for (const [what, headers] of Object.entries({ isolated: kIsolation, "not isolated": {} })) {
    test(`trains with edgegrad/single, ${what}`, async () => {
      const result = await resultIn("service_single.js", headers);
      assert.deepEqual(result, { variant: "single", trained: true });
    });

    test(`that imports all of edgegrad is told of edgegrad/single, ${what}`, async () => {
      const { error } = await resultIn("service_whole.js", headers);
      assert.match(error, /^Internal: \[init\].*import\(\) is disallowed.*"edgegrad\/single"/);
    });
  }
});
