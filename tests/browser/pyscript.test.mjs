// edgegrad.torch in PyScript, in its page and in its worker: Python loads the wheel and connects itself, as the guide says.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { kRoot } from "../../scripts/process.mjs";
import { noBrowser, startChromium } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { kMostLoss, kPythonTraining } from "./support/python_training.mjs";
import { serveFiles } from "./support/servers.mjs";

const kWheel = readdirSync(`${kRoot}/dist/pyodide`).find((name) => name.endsWith(".whl"));

// micropip would come from Pyodide's server, so the wheel is unpacked.
const kProgram = `
from pyscript import window
from pyodide.ffi import to_js
from pyodide.http import pyfetch
from pyodide_js import unpackArchive

origin = window.location.origin
wheel = await (await pyfetch(f"{origin}/dist/pyodide/${kWheel}")).bytes()
unpackArchive(to_js(wheel), "wheel")

import edgegrad
await edgegrad.init(f"{origin}/dist/pyodide/index.js", f"{origin}/dist/index.js", threads=2)
edgegrad.install_as_torch()

import torch
from torch import nn
${kPythonTraining}window.loss = loss.item()
`;
const page = (attributes) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="module" src="/node_modules/@pyscript/core/dist/core.js"></script>
<script type="py" ${attributes} config='{ "interpreter": "/node_modules/pyodide/pyodide.mjs" }'>${kProgram}</script>`;
const kPages = { "/page.html": page(""), "/worker.html": page("worker") };

describe("PyScript", { skip: noBrowser }, () => {
  let server;
  let browser;
  before(async () => {
    const answer = ({ url }) => {
      const content = kPages[new URL(url, "http://localhost").pathname];
      return content && { headers: { "Content-Type": "text/html", ...kIsolation }, content };
    };
    server = await serveFiles(kRoot, kIsolation, { answer });
    browser = await startChromium();
  });
  after(async () => {
    await browser?.close();
    server?.stop();
  });

  for (const [path, where] of [
    ["page.html", "the page"],
    ["worker.html", "a worker"],
  ]) {
    test(`trains in ${where}`, async () => {
      const tab = await browser.newPage();
      const failed = new Promise((_, reject) => {
        tab.on("pageerror", (error) => reject(error));
        tab.on("console", (message) => {
          if (message.type() === "error") reject(new Error(message.text()));
        });
      });
      await tab.goto(`${server.url}${path}`);
      await Promise.race([tab.waitForFunction(() => globalThis.loss !== undefined), failed]);
      assert.ok((await tab.evaluate(() => globalThis.loss)) < kMostLoss);
      await tab.close();
    });
  }
});
