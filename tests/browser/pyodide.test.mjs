// edgegrad/pyodide in a page: Python in the page itself and in a worker, connected from JavaScript or by itself, also on a GPU.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { kRoot } from "../../scripts/process.mjs";
import { kWebGpu, noBrowser, startChromium } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { kMostLoss, kPythonTraining } from "./support/python_training.mjs";
import { serveFiles } from "./support/servers.mjs";

const kWheel = readdirSync(`${kRoot}/dist/pyodide`).find((name) => name.endsWith(".whl"));

// What a page or worker does: `run` starts Python, connects it, and returns the last value of a program.
const kScript = `
const { loadPyodide } = await import("/node_modules/pyodide/pyodide.mjs");
async function run(code, { self = false, ...init } = {}) {
  const [python, eg, { install }] = await Promise.all([
    loadPyodide({ indexURL: "/node_modules/pyodide/" }),
    import("/dist/index.js"),
    import("/dist/pyodide/index.js"),
  ]);
  if (self) {
    const wheel = await fetch("/dist/pyodide/${kWheel}");
    python.unpackArchive(await wheel.arrayBuffer(), "wheel");
  } else {
    await install(python, { engine: eg, init });
  }
  return python.runPythonAsync(code);
}
`;
const kPage = `<!doctype html><meta charset="utf-8"><script type="module">${kScript}
globalThis.run = run;
globalThis.inWorker = (...given) => new Promise((resolve, reject) => {
  const worker = new Worker("/worker.mjs", { type: "module" });
  worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.value));
  worker.postMessage(given);
});
globalThis.ready = true;
</script>`;
const kWorker = `
// Python comes later, and a message must not be lost until then.
const asked = new Promise((resolve) => { onmessage = ({ data }) => resolve(data); });
${kScript}
try { postMessage({ value: await run(...(await asked)) }); }
catch (error) { postMessage({ error: String(error.message).slice(-2000) }); }
`;

const kTraining = `
import edgegrad.torch as torch
from edgegrad.torch import nn
${kPythonTraining}loss.item()
`;
const kOnGpu = `
import edgegrad.torch as torch
x = torch.ones(4, 4).to("webgpu")
`;

describe("Python in the page", { skip: noBrowser }, () => {
  let server;
  let browser;
  before(async () => {
    const pages = {
      "/page.html": ["text/html", kPage],
      "/worker.mjs": ["text/javascript", kWorker],
    };
    const answer = ({ url }) => {
      const own = pages[new URL(url, "http://localhost").pathname];
      return own && { headers: { "Content-Type": own[0], ...kIsolation }, content: own[1] };
    };
    server = await serveFiles(kRoot, kIsolation, { answer });
    browser = await startChromium(kWebGpu);
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });

  async function evaluate(name, ...given) {
    const page = await browser.newPage();
    await page.goto(`${server.url}page.html`);
    await page.waitForFunction(() => globalThis.ready);
    const value = await page.evaluate(
      ([called, args]) => globalThis[called](...args),
      [name, given],
    );
    await page.close();
    return value;
  }

  test("trains", async () => {
    assert.ok((await evaluate("run", kTraining)) < kMostLoss);
  });

  test("trains in a worker, where a program may wait for a GPU", async () => {
    assert.ok((await evaluate("inWorker", kTraining)) < kMostLoss);
    assert.equal(
      await evaluate("inWorker", `${kOnGpu}(x @ x).sum().item()`, { webgpu: "required" }),
      64,
    );
  });

  test("waits for a GPU in the page itself by await, and where Python can be suspended by item()", async () => {
    const code = `${kOnGpu}
s = (x @ x).sum()
str([await s.item_async(), s.item()])`;
    assert.equal(await evaluate("run", code, { webgpu: "required" }), "[64, 64]");
  });

  test("can start by itself", async () => {
    const start =
      'import edgegrad\nawait edgegrad.init("/dist/pyodide/index.js", "/dist/index.js", threads=1)\n';
    assert.ok((await evaluate("run", start + kTraining, { self: true })) < kMostLoss);
  });
});
