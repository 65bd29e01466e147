// What is kept of a test of pages that fails, in build/failures/<test file>-<test>: a picture of each open page, what the pages wrote
// to their consoles and requested, and Playwright's trace of the test (`npx playwright show-trace`). A test that passes costs next to
// nothing: pictures are only taken of failures, and the traces have none. So tests close their pages only where they have passed.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { kRoot } from "../../scripts/process.mjs";

const kFolder = join(kRoot, "build", "failures");
const kLongestName = 200;
/** A page that writes without end keeps its last lines. */
const kMostLines = 2000;
/** Contexts that were closed are kept for the test that closed them. */
const kMostClosed = 20;
/** A page that hangs has no picture. */
const kPictureTimeout = 10_000; // ms

// Other programs also start browsers that are watched.
const kFile = process.argv[1] ?? "";
const isTest = kFile.endsWith(".test.mjs");

const opened = new Set();
const closed = [];

/** Keeps what happens in a context of Playwright for the case that a test fails. */
export function watchContext(context) {
  if (!isTest) return;
  const watched = new WatchedContext(context);
  opened.add(watched);
  context.on("close", () => {
    watched.end = performance.now();
    opened.delete(watched);
    if (closed.push(watched) > kMostClosed) closed.shift();
  });
}

class WatchedContext {
  since = performance.now();
  end = Number.POSITIVE_INFINITY;
  /** True once a test that opened this context has failed: it is no evidence for later ones, although it may still be open. */
  isTold = false;
  #context;
  #lines = { console: [], network: [] };
  #unanswered = new Set();

  constructor(context) {
    this.#context = context;
    context.on("console", (message) => {
      const { url, lineNumber } = message.location();
      this.#add("console", `${message.type()}: ${message.text()} (${url}:${lineNumber})`);
    });
    context.on("weberror", (error) => this.#add("console", `uncaught ${error.error().stack}`));
    context.on("request", (request) => this.#unanswered.add(request));
    context.on("response", (response) => this.#end(response.request(), response.status()));
    context.on("requestfailed", (request) => this.#end(request, request.failure()?.errorText));
    this.#trace();
  }

  /** Writes what is known into a folder, in files whose names begin with `prefix`. */
  async write(folder, prefix) {
    const write = (name, content) => writeFileSync(join(folder, `${prefix}-${name}`), content);
    for (const [i, page] of this.#context.pages().entries()) {
      this.#add("console", `page ${i + 1} is at ${page.url()}`);
      try {
        write(`page_${i + 1}.png`, await page.screenshot({ timeout: kPictureTimeout }));
      } catch (error) {
        this.#add("console", `page ${i + 1} has no picture: ${error.message}`);
      }
    }
    for (const request of this.#unanswered) this.#end(request, "no answer");
    for (const [kind, lines] of Object.entries(this.#lines))
      write(`${kind}.txt`, `${lines.join("\n")}\n`);
    // A context that was closed has none any more.
    const path = join(folder, `${prefix}-trace.zip`);
    await this.#context.tracing.stop({ path }).catch(() => undefined);
    this.#trace();
  }

  // Not awaited, because what is asked of the context later is also done later.
  #trace() {
    this.#context.tracing.start().catch(() => undefined);
  }

  #end(request, outcome) {
    this.#unanswered.delete(request);
    this.#add("network", `${outcome} ${request.method()} ${request.url()}`);
  }

  #add(kind, text) {
    const lines = this.#lines[kind];
    lines.push(`${new Date().toISOString().slice(11, -1)} ${text}`);
    if (lines.length > 2 * kMostLines) lines.splice(0, kMostLines);
  }
}

/** Writes what there is of a test that has failed; returns the folder, or null if no page was open meanwhile. */
async function keep(name, start) {
  const all = [...closed.filter(({ end }) => end > start), ...opened];
  const untold = all.filter(({ isTold }) => !isTold);
  if (untold.length === 0) return null;
  const folder = folderOf(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [i, context] of untold.entries()) {
    context.isTold = context.since > start;
    await context.write(folder, `context_${i + 1}`);
  }
  return folder;
}

function folderOf(test) {
  const file = relative(join(kRoot, "tests"), kFile).replace(/\.test\.mjs$/, "");
  const name = `${file}-${test}`.replaceAll(/[^\w-]+/g, "_");
  return join(kFolder, name.slice(0, kLongestName));
}

if (isTest) {
  const starts = new WeakMap();
  beforeEach((t) => {
    starts.set(t, performance.now());
  });
  afterEach(async (t) => {
    if (!t.error) return;
    const folder = await keep(t.fullName, starts.get(t));
    if (folder !== null) t.diagnostic(`its pages are in ${relative(kRoot, folder)}`);
  });
}
