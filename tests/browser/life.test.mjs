// The lifecycle of an engine in a page: the engine and its workers can start and stop any number of times.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { kWebGpu, noBrowser } from "./support/chromium.mjs";
import { resultOf, visit } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

/** Enough that memory which each of them keeps shows. */
const kSomeCycles = 40;
const kFewCycles = 15;
const kTimeout = 500_000; // ms
/** Late garbage collections make the held memory fluctuate. */
const kMostGrowth = 1.5;

describe("an engine in a page", { skip: noBrowser }, () => {
  const suite = useProject(kWebGpu);
  let url;
  before(async () => {
    ({ url } = await suite.serve(suite.project.folder, kIsolation));
  });

  // The bytes of the page processes, which contain the memory of the engines.
  async function heldByPages() {
    const session = await suite.browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    const sizes = processInfo
      .filter(({ type }) => type === "renderer")
      .map(({ id }) => readFileSync(`/proc/${id}/status`, "utf8"))
      .map((status) => 1024 * Number(/^RssAnon:\s*(\d+)/m.exec(status)?.[1] ?? 0));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async function live(run) {
    const query = new URLSearchParams({ run: JSON.stringify(run) });
    const held = [];
    const onReport = async (text, page) => {
      // The browser collects garbage when it wants to: what is held in the end must not depend on that.
      if (text === `${run.cycles} cycles`) await page.requestGC();
      held.push(await heldByPages());
    };
    const { result } = await visit(suite.browser, `${url}life.html?${query}`, {
      onReport,
      timeout: kTimeout,
    });
    assert.deepEqual(result, { cycles: run.cycles });
    return held;
  }

  test("starts and ends many times, with workers, in flat memory", async () => {
    const held = await live({ cycles: kSomeCycles, spawns: true, options: { threads: 2 } });
    const [middle, last] = [held[Math.floor(held.length / 2)], held.at(-1)];
    assert.ok(
      last < kMostGrowth * middle,
      `${held.map((bytes) => Math.round(bytes / 2 ** 20))} MiB`,
    );
  });

  test("starts and ends many times with WebGPU", async () => {
    const options = { threads: 2, webgpu: "required" };
    await live({ cycles: kFewCycles, spawns: true, device: "webgpu", options });
  });

  test("shares its workers among many calls, and calls within calls, and gives them back", async () => {
    const result = await resultOf(suite.browser, `${url}pool.html`);
    assert.deepEqual(result, {
      workers: 2,
      sum: 6000,
      leaves: 16,
      codes: ["InvalidArgument"],
      isNew: true,
      left: 0,
      alive: 2,
    });
  });

  test("releases what a worker held once the worker has ended, and not before", async () => {
    const { error, ends, endedWorkerBytes, sum, overflow } = await resultOf(
      suite.browser,
      `${url}ends.html`,
    );
    assert.equal(error, undefined);
    assert.equal(ends.length, 5);
    for (const { code, held } of ends) {
      assert.equal(code, "Internal");
      // It kept 50 tensors.
      assert.ok(held >= 50, `${held} handles were held when the call was rejected`);
    }
    assert.equal(endedWorkerBytes, 0);
    assert.equal(sum, 100);
    assert.deepEqual(overflow, { name: "RangeError", isGradEnabled: true, grad: [2, 2, 2] });
  });
});
