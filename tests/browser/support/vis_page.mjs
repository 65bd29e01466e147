// A page of plain files with panels of edgegrad/vis, and the pictures of them that the guide shows.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../../../scripts/process.mjs";
import { serveFolder } from "../../../scripts/serve_folder.mjs";
import { startChromium } from "./chromium.mjs";

/** Where the pictures of the guide are; EG_WRITE_PICTURES=1 writes them. */
const kPictures = join(kRoot, "docs", "guide", "pictures");

const kHead = `<!doctype html>
<html lang="en">
<head>
<title>Panels</title>
<meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark; } body { margin: 16px; background: light-dark(#fbfbfd, #14161c); }</style>
<script type="importmap">
{ "imports": { "edgegrad": "/dist/index.js", "edgegrad/vis": "/dist/vis/index.js" } }
</script>
</head>`;

/** Starts Chromium and a server of the checkout; returns { open, stop }. */
export async function startVisPages() {
  const { url, stop } = await serveFolder(kRoot);
  const browser = await startChromium();

  /**
   * Opens a page with this body and this module script; resolves when the script has set `globalThis.ready`. `scripts` are other scripts by
   * their names in the page; a page that is `isLate` imports edgegrad/vis itself.
   */
  async function open(body, script, { scripts = {}, isLate = false, ...options } = {}) {
    const page = await browser.newPage({ viewport: { width: 720, height: 640 }, ...options });
    for (const [name, text] of Object.entries(scripts))
      await page.route(`**/${name}`, (route) =>
        route.fulfill({ contentType: "text/javascript", body: text }),
      );
    const problems = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    const start = isLate ? "" : 'import * as vis from "edgegrad/vis"; globalThis.vis = vis;';
    const html = `${kHead}<body><main><h1>Panels</h1>${body}</main><script type="module">
      ${start}
      ${script}
      globalThis.ready = true;
    </script></body></html>`;
    await page.route("**/panels.html", (route) =>
      route.fulfill({ contentType: "text/html", body: html }),
    );
    await page.goto(`${url}panels.html`);
    await page
      .waitForFunction(() => globalThis.ready === true)
      .catch((error) => {
        throw new Error(`${error.message}\n${problems.join("\n")}`);
      });
    await drawn(page);
    return { page, problems, requests: () => requestsOf(page) };
  }

  return {
    open,
    async stop() {
      await browser.close();
      await stop();
    },
  };
}

/** Resolves when panels have drawn what they have. */
export function drawn(page) {
  return page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  });
}

function requestsOf(page) {
  return page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
}

/** Checks that the guide has a picture of a panel; writes it if the environment says so. */
export async function takePicture(page, selector, name) {
  const file = join(kPictures, `${name}.webp`);
  if (process.env.EG_WRITE_PICTURES) {
    mkdirSync(kPictures, { recursive: true });
    writeFileSync(file, await webpOf(page, await page.locator(selector).screenshot()));
  }
  assert.ok(existsSync(file), `EG_WRITE_PICTURES=1 writes ${file}`);
}

// Chromium takes pictures as PNG, which are three times as large; the page makes the others.
async function webpOf(page, png) {
  const base64 = await page.evaluate(
    async (source) => {
      const picture = await createImageBitmap(await (await fetch(source)).blob());
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [picture.width, picture.height];
      canvas.getContext("2d").drawImage(picture, 0, 0);
      return canvas.toDataURL("image/webp", 0.75).split(",")[1];
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
  return Buffer.from(base64, "base64");
}
