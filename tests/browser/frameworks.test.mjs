// The programs of examples/frameworks: a component trains, draws the loss, and gives everything back when it goes.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { compile } from "svelte/compiler";
import { kIsolation } from "../../scripts/isolation.mjs";
import { kRoot } from "../../scripts/process.mjs";
import { until } from "../support/until.mjs";
import { noBrowser, startChromium } from "./support/chromium.mjs";
import { serveFiles } from "./support/servers.mjs";

const kFolder = join(kRoot, "examples", "frameworks");
const kPrograms = {
  React: "react.jsx",
  Vue: "vue.js",
  Svelte: "svelte.js",
  Solid: "solid.js",
  Angular: "angular.ts",
  Alpine: "alpine.js",
  "a worker with Comlink": "comlink.js",
};

const kSvelte = {
  name: "svelte",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
      contents: compile(readFileSync(path, "utf8"), { filename: path }).js.code,
    })),
};

async function bundled(program) {
  const out = mkdtempSync(join(tmpdir(), "edgegrad-framework-"));
  const page = `
    import * as eg from "edgegrad";
    import { mount } from "./${program}";
    const leave = mount(document.querySelector("#app"));
    globalThis.page = { leave, tensors: () => eg.memory().tensors };`;
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: kFolder, sourcefile: "page.js" },
    bundle: true,
    format: "esm",
    write: false,
    outfile: "page.js",
    external: ["./wasm/*"],
    conditions: ["svelte", "browser"],
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    plugins: [kSvelte],
    logLevel: "error",
  });
  writeFileSync(join(out, "page.js"), outputFiles[0].contents);
  await build({
    entryPoints: [join(kFolder, "comlink_worker.js")],
    bundle: true,
    format: "esm",
    outdir: out,
    external: ["./wasm/*"],
    logLevel: "error",
  });
  cpSync(join(kFolder, "page.html"), join(out, "index.html"));
  cpSync(join(kRoot, "dist", "wasm"), join(out, "wasm"), { recursive: true });
  return out;
}

describe("a component of", { skip: noBrowser }, () => {
  let browser;
  before(async () => {
    browser = await startChromium();
  });
  after(() => browser?.close());

  for (const [name, program] of Object.entries(kPrograms)) {
    test(`${name} trains, draws the loss, and gives everything back`, async () => {
      const out = await bundled(program);
      const server = await serveFiles(out, kIsolation);
      const page = await browser.newPage();
      const messages = [];
      page.on("console", (message) => messages.push(message.text()));
      page.on("pageerror", (error) => messages.push(error.stack));
      try {
        await page.goto(server.url);
        const button = await page.waitForSelector("#app button:not([disabled])");
        await button.click();
        const loss = async () => Number(await page.textContent("#app output"));
        await until(
          () => `small loss; the page says ${messages.join("\n")}`,
          async () => (await loss()) > 0 && (await loss()) < 0.1,
        );
        await page.evaluate(() => globalThis.page.leave());
        if (program === "comlink.js")
          await until("end of the worker", () => page.workers().length === 0);
        else await page.waitForFunction(() => globalThis.page.tensors() === 0);
        assert.deepEqual(
          messages.filter((text) => !/404|favicon|development mode/.test(text)),
          [],
        );
      } finally {
        await page.close();
        server.stop();
        rmSync(out, { recursive: true });
      }
    });
  }
});
