// Pages that run a program: it (in programs/) is built by Vite and served with gzip to Chromium.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { kIsolation } from "../../scripts/isolation.mjs";
import { runVite } from "../browser/support/servers.mjs";

const kRoot = fileURLToPath(new URL("../..", import.meta.url));
const kTypes = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const kTimeout = 120_000; // ms
const kEncoders = { gzip: (content) => gzipSync(content, { level: 9 }), br: brotliCompressSync };

// TensorFlow.js requests its WebAssembly files at run time from the folder of the page.
const kTfjsFiles = join(kRoot, "node_modules/@tensorflow/tfjs-backend-wasm/dist");

/**
 * Builds the page of a program, with the plugin edgegrad/vite if it `preloads`, and serves it, by default
 * with gzip and cross-origin isolated.
 * Resolves to { url, sent, stop }, where `sent` has the type and the compressed bytes of each answer.
 */
export async function servePage(
  program,
  { preloads = false, isIsolated = true, encoding = "gzip" } = {},
) {
  const project = mkdtempSync(join(tmpdir(), "edgegrad-page-"));
  for (const name of ["programs", "models", "clock.mjs"]) {
    const from = fileURLToPath(new URL(name, import.meta.url));
    cpSync(from, join(project, name), { recursive: true });
  }
  writeFileSync(
    join(project, "index.html"),
    `<!doctype html><script type="module" src="/programs/${program}.mjs"></script>`,
  );
  writeFileSync(
    join(project, "vite.config.mjs"),
    `${preloads ? 'import edgegrad from "edgegrad/vite";\n' : "const edgegrad = () => [];\n"}` +
      'export default { plugins: [edgegrad()], build: { target: "esnext" } };',
  );
  linkPackages(project);
  if (program.startsWith("tfjs")) copyWasm(kTfjsFiles, join(project, "public"));
  await runVite(project, ["build"]);
  const headers = { "Content-Encoding": encoding, ...(isIsolated && kIsolation) };
  const { url, sent, stop } = await serve(join(project, "dist"), headers, kEncoders[encoding]);
  const stopAndRemove = () => {
    stop();
    rmSync(project, { recursive: true });
  };
  return { url, sent, stop: stopAndRemove };
}

function linkPackages(project) {
  for (const name of ["vite", "@jax-js/jax", "@tensorflow", "onnxruntime-web"]) {
    const target = join(kRoot, "node_modules", name);
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    if (existsSync(target)) symlinkSync(target, link);
  }
  symlinkSync(kRoot, join(project, "node_modules", "edgegrad"));
}

function copyWasm(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from).filter((one) => one.endsWith(".wasm"))) {
    cpSync(join(from, name), join(to, name));
  }
}

async function serve(folder, headers, encode) {
  const sent = [];
  const compressed = new Map();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    try {
      if (!compressed.has(path)) {
        compressed.set(path, encode(readFileSync(join(folder, path))));
      }
      const content = compressed.get(path);
      const type = kTypes[extname(path)];
      response.writeHead(200, {
        "Content-Type": type,
        "Cache-Control": "max-age=3600",
        ...headers,
      });
      response.end(content);
      sent.push({ type: extname(path), bytes: content.length });
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  return { url: `http://localhost:${server.address().port}/`, sent, stop: () => server.close() };
}

/** Opens the page, and resolves to the JSON that it logs. */
export async function resultInPage(browser, url, timeout = 15 * 60_000) {
  const page = await browser.newPage();
  try {
    const isResult = (message) => message.text().startsWith("{");
    const result = page.waitForEvent("console", { predicate: isResult, timeout });
    const failure = page.waitForEvent("pageerror", { timeout: 0 });
    failure.catch(() => undefined);
    result.catch(() => undefined);
    await page.goto(url, { waitUntil: "commit" });
    const end = await Promise.race([result, failure.then((error) => Promise.reject(error))]);
    return JSON.parse(end.text());
  } finally {
    await page.close();
  }
}

/**
 * Opens the page in a new browser context, whose cache is empty, and resolves to the milliseconds from navigation to the end of the
 * first step. `network` limits it to `megabits` per second with round trips of `latency` ms.
 */
export async function timeToFirstStep(browser, url, network = null) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    if (network !== null) await limit(await context.newCDPSession(page), network);
    const isTime = (message) => Number(message.text()) > 0;
    const isDone = page.waitForEvent("console", { predicate: isTime, timeout: kTimeout });
    const failure = page.waitForEvent("pageerror", { timeout: 0 });
    failure.catch(() => undefined);
    isDone.catch(() => undefined);
    await page.goto(url, { waitUntil: "commit" });
    const end = await Promise.race([isDone, failure.then((error) => Promise.reject(error))]);
    return Number(end.text()) - (await page.evaluate(() => performance.timeOrigin));
  } finally {
    await context.close();
  }
}

async function limit(session, { megabits, latency }) {
  const throughput = (megabits * 1e6) / 8;
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
}
