// The programs of examples/frameworks in Chromium: a component trains, draws the loss, and gives everything back when it goes.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { compile } from "svelte/compiler";
import { kIsolation } from "../../../scripts/isolation.mjs";
import { until } from "../../support/until.mjs";
import { serveFiles } from "./servers.mjs";

/** The frameworks, with their program and the packages that it needs; the first one is the framework. */
export const kFrameworks = {
  React: { program: "react.jsx", tools: ["react", "react-dom"] },
  Vue: { program: "vue.js", tools: ["vue"] },
  Svelte: { program: "svelte.js", tools: ["svelte"] },
  Solid: { program: "solid.js", tools: ["solid-js"] },
  Angular: {
    program: "angular.ts",
    tools: [
      "@angular/core",
      "@angular/common",
      "@angular/compiler",
      "@angular/platform-browser",
      "rxjs",
      "zone.js",
    ],
  },
  Alpine: { program: "alpine.js", tools: ["alpinejs"] },
  "a worker with Comlink": { program: "comlink.js", tools: ["comlink"] },
};

const kSvelte = {
  name: "svelte",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
      contents: compile(readFileSync(path, "utf8"), { filename: path }).js.code,
    })),
};

const kOptions = {
  bundle: true,
  format: "esm",
  external: ["./wasm/*"],
  conditions: ["svelte", "browser"],
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  plugins: [kSvelte],
  logLevel: "error",
};

// Bundles a page that mounts the component; `folder` has the programs, `wasm` is the folder of the package's WebAssembly files.
async function bundled(folder, program, wasm) {
  const out = mkdtempSync(join(tmpdir(), "edgegrad-framework-"));
  const page = `
    import * as eg from "edgegrad";
    import { mount } from "./${program}";
    const leave = mount(document.querySelector("#app"));
    globalThis.page = { leave, tensors: () => eg.memory().tensors };`;
  const stdin = { contents: page, resolveDir: folder, sourcefile: "page.js" };
  await build({ ...kOptions, stdin, outfile: join(out, "page.js") });
  if (program === "comlink.js") {
    await build({ ...kOptions, entryPoints: [join(folder, "comlink_worker.js")], outdir: out });
  }
  writeFileSync(
    join(out, "index.html"),
    '<!doctype html><meta charset="utf-8" /><div id="app"></div><script type="module" src="page.js"></script>',
  );
  cpSync(wasm, join(out, "wasm"), { recursive: true });
  return out;
}

/** Asserts that a program of examples/frameworks works; `folder` and `wasm` are where the programs and the package's files are. */
export async function assertComponentTrains(browser, { folder, program, wasm }) {
  const out = await bundled(folder, program, wasm);
  const server = await serveFiles(out, kIsolation);
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(error.stack));
  try {
    await page.goto(server.url);
    const button = await page.waitForSelector("#app button:not([disabled])");
    await button.click();
    // What is shown at the end may be 0.0000, and nothing before the first step.
    await until(
      () => `small loss; the page says ${messages.join("\n")}`,
      async () => {
        const shown = await page.textContent("#app output");
        return /\d/.test(shown) && Number(shown) < 0.1;
      },
    );
    await page.evaluate(() => globalThis.page.leave());
    if (program === "comlink.js") {
      await until("end of the worker", () => page.workers().length === 0);
    } else {
      await page.waitForFunction(() => globalThis.page.tensors() === 0);
    }
    // Chromium asks for an icon, and Angular announces its development mode.
    const others = messages.filter((text) => !/404|development mode/.test(text));
    assert.deepEqual(others, []);
  } finally {
    await page.close();
    server.stop();
    rmSync(out, { recursive: true });
  }
}
