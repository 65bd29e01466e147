// Measures what Chromium fetches for a page: the program is built by Vite and served with gzip, and the server counts
// the bytes.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { kIsolation } from "../../scripts/serve_folder.mjs";
import { noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { runVite } from "../browser/support/servers.mjs";

const kRoot = fileURLToPath(new URL("../..", import.meta.url));
const kTypes = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const kHeaders = { "Cache-Control": "max-age=3600", ...kIsolation };
const kMostMilliseconds = 60_000;

/**
 * Resolves to the bytes that Chromium fetches for a cross-origin isolated page until its program (in programs/) has
 * printed its time: { requests, bytes, byType: { ".js": bytes, ... } }.
 */
export async function fetchedByPage(program) {
  if (noBrowser) throw new Error(noBrowser);
  const project = mkdtempSync(join(tmpdir(), "edgegrad-page-"));
  try {
    const source = fileURLToPath(new URL(`programs/${program}.mjs`, import.meta.url));
    cpSync(source, join(project, "main.js"));
    writeFileSync(join(project, "index.html"), '<script type="module" src="/main.js"></script>');
    writeFileSync(
      join(project, "vite.config.mjs"),
      'export default { build: { target: "esnext" } };',
    );
    mkdirSync(join(project, "node_modules"));
    symlinkSync(kRoot, join(project, "node_modules", "edgegrad"));
    symlinkSync(join(kRoot, "node_modules", "vite"), join(project, "node_modules", "vite"));
    await runVite(project, ["build"]);
    return await trace(join(project, "dist"));
  } finally {
    rmSync(project, { recursive: true });
  }
}

async function trace(folder) {
  const sent = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    try {
      const content = gzipSync(readFileSync(join(folder, path)), { level: 9 });
      const type = kTypes[extname(path)];
      response.writeHead(200, { "Content-Type": type, "Content-Encoding": "gzip", ...kHeaders });
      response.end(content);

      sent.push({ type: extname(path), bytes: content.length });
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    const isTime = (message) => Number(message.text()) > 0;
    const isDone = page.waitForEvent("console", { predicate: isTime, timeout: kMostMilliseconds });
    const failure = page.waitForEvent("pageerror", { timeout: 0 });
    await page.goto(`http://localhost:${server.address().port}/`);
    await Promise.race([isDone, failure.then((error) => Promise.reject(error))]);
  } finally {
    await browser.close();
    server.close();
  }
  const byType = {};
  for (const { type, bytes } of sent) byType[type] = (byType[type] ?? 0) + bytes;
  return { requests: sent.length, bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0), byType };
}
