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
import { gzipSync } from "node:zlib";
import { kIsolation } from "../../scripts/isolation.mjs";
import { runVite } from "../browser/support/servers.mjs";

const kRoot = fileURLToPath(new URL("../..", import.meta.url));
const kTypes = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const kTimeout = 120_000; // ms

// TensorFlow.js requests its WebAssembly files at run time from the folder of the page.
const kTfjsFiles = join(kRoot, "node_modules/@tensorflow/tfjs-backend-wasm/dist");

/** Builds the page of a program, ours with the plugin edgegrad/vite, and serves it. Resolves to {url, stop}. */
export async function servePage(program) {
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
    'import edgegrad from "edgegrad/vite";\n' +
      `export default { plugins: [${program === "edgegrad" ? "edgegrad()" : ""}], build: { target: "esnext" } };`,
  );
  linkPackages(project);
  const isTfjs = program.startsWith("tfjs");
  if (isTfjs) copyWasm(kTfjsFiles, join(project, "public"));
  await runVite(project, ["build"]);
  // TensorFlow.js's build with threads, which it takes in an isolated page, cannot start its workers from a bundle.
  const { url, stop } = await serve(join(project, "dist"), isTfjs ? {} : kIsolation);
  const stopAndRemove = () => {
    stop();
    rmSync(project, { recursive: true });
  };
  return { url, stop: stopAndRemove };
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

async function serve(folder, headers) {
  const compressed = new Map();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    try {
      if (!compressed.has(path)) {
        compressed.set(path, gzipSync(readFileSync(join(folder, path)), { level: 9 }));
      }
      const content = compressed.get(path);
      const type = kTypes[extname(path)];
      response.writeHead(200, {
        "Content-Type": type,
        "Content-Encoding": "gzip",
        "Cache-Control": "max-age=3600",
        ...headers,
      });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  return { url: `http://localhost:${server.address().port}/`, stop: () => server.close() };
}

/** Opens the page, and resolves to the JSON that it logs. */
export async function resultInPage(browser, url) {
  const page = await browser.newPage();
  try {
    return JSON.parse(await logged(page, url, 15 * 60_000));
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
    const end = Number(await logged(page, url, kTimeout));
    return end - (await page.evaluate(() => performance.timeOrigin));
  } finally {
    await context.close();
  }
}

/** Opens the page, and resolves to its result: the first text in the console that is a number or an object. */
async function logged(page, url, timeout) {
  const isResult = (message) => /^[{\d]/.test(message.text());
  const result = page.waitForEvent("console", { predicate: isResult, timeout });
  const failure = page.waitForEvent("pageerror", { timeout: 0 });
  failure.catch(() => undefined);
  result.catch(() => undefined);
  await page.goto(url, { waitUntil: "commit" });
  const end = await Promise.race([result, failure.then((error) => Promise.reject(error))]);
  return end.text();
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
