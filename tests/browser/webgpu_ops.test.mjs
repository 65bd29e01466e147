// Every op on the WebGPU device of a page: results and gradients match those of the CPU.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { kWebGpu, noBrowser, startChromium } from "./support/chromium.mjs";
import { writeLawPage } from "./support/law_page.mjs";
import { visit } from "./support/pages.mjs";
import { kIsolation, makeProject } from "./support/project.mjs";
import { serveFiles } from "./support/servers.mjs";

const kTimeout = 600_000; // ms

describe("in a page with WebGPU", { skip: noBrowser }, () => {
  let browser;
  let project;
  let server;

  before(async () => {
    project = makeProject();
    await writeLawPage(project.folder);
    browser = await startChromium(kWebGpu);
    server = await serveFiles(project.folder, kIsolation);
  });
  after(async () => {
    server?.stop();
    await browser?.close();
    project?.remove();
  });

  test("the first sample of every op is as on the CPU, with its gradients", async () => {
    const { result } = await visit(browser, `${server.url}laws.html`, { timeout: kTimeout });
    const { error, ops, problems, webgpu } = result;
    assert.equal(error, undefined);
    assert.equal(webgpu.architecture, "swiftshader");
    assert.ok(ops > 300, `${ops} ops`);
    assert.deepEqual(problems, []);
  });
});
