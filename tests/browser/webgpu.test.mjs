// A page trains with WebGPU: from plain files, with Vite and as built by bundlers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  buildWithEsbuild,
  buildWithVite,
  buildWithWebpack,
  kWebGpuPage,
} from "./support/bundlers.mjs";
import { kWebGpu, noBrowser, startChromium } from "./support/chromium.mjs";
import { resultOf } from "./support/pages.mjs";
import { kIsolation } from "./support/project.mjs";
import { serveWithVite } from "./support/servers.mjs";
import { useProject } from "./support/suite.mjs";

const kBase = "/below/a/path/";
const kPlayer = /edgegrad-webgpu/;

describe("a page with WebGPU", { skip: noBrowser }, () => {
  const suite = useProject(kWebGpu);

  const serve = (folder, serving) => suite.serve(folder, kIsolation, serving);

  function open(server, { webgpu = "required", devices = ["cpu", "webgpu"] } = {}) {
    const options = { threads: 2, variant: "simd", webgpu };
    const query = new URLSearchParams({ run: JSON.stringify({ options, devices }) });
    return resultOf(suite.browser, `${server.url}webgpu.html?${query}`);
  }

  async function assertTrains(server) {
    const { error, losses, turns, webgpu, stats } = await open(server);
    assert.equal(error, undefined);
    assert.equal(losses.webgpu.length, 20);
    losses.webgpu.forEach((loss, step) => {
      const right = losses.cpu[step];
      // The GPU sums in a different order, and twenty steps amplify the rounding differences.
      assert.ok(Math.abs(loss - right) <= 1e-4 * right, `${loss}, not ${right}, at step ${step}`);
    });
    assert.ok(losses.cpu.at(-1) < losses.cpu[0]);
    assert.equal(webgpu.architecture, "swiftshader");
    assert.ok(stats.dispatches >= 20 && stats.readbacks >= 20);
    assert.ok(turns >= 10, `the page had ${turns} turns while the GPU worked`);
  }

  test("of plain files trains as on the CPU, and answers meanwhile", async () => {
    await assertTrains(await serve(suite.project.folder));
  });

  test("fetches the player when the device is used, and not before", async () => {
    const server = await serve(suite.project.folder);
    for (const webgpu of ["auto", "off"]) {
      const { error, stats } = await open(server, { webgpu, devices: ["cpu"] });
      assert.equal(error, undefined);
      assert.equal(stats, null);
    }
    assert.ok(server.requests.some((path) => path.endsWith("/index.js")));
    assert.deepEqual(
      server.requests.filter((path) => kPlayer.test(path)),
      [],
    );
    await open(server, { devices: ["webgpu"] });
    assert.equal(server.requests.filter((path) => kPlayer.test(path)).length, 1);
  });

  test("opens the device after downloads of the player that failed", async () => {
    const asked = [];
    const server = await serve(suite.project.folder, {
      answer({ url }) {
        if (!kPlayer.test(url)) return undefined;
        asked.push(new URL(url, "http://localhost").search);
        return asked.length < 3 ? { status: 503 } : undefined;
      },
    });
    const run = { options: { threads: 2, webgpu: "required" }, devices: ["webgpu"], attempts: 3 };
    const query = new URLSearchParams({ run: JSON.stringify(run) });
    const { error, failures, losses } = await resultOf(
      suite.browser,
      `${server.url}webgpu.html?${query}`,
    );
    assert.equal(error, undefined);
    assert.equal(failures.length, 2);
    for (const failure of failures)
      assert.match(failure, /^DeviceUnavailable \[init\] .*edgegrad-webgpu/);
    // Firefox never asks for an address again whose module it could not load.
    assert.deepEqual(asked, ["", "?attempt=1", "?attempt=2"]);
    assert.equal(losses.webgpu.length, 20);
  });

  // A browser cannot start a worker while the page is blocked.
  test("may block in its first backward(), with no thread to spare", async () => {
    const server = await serve(suite.project.folder);
    const options = { threads: 1, variant: "simd", webgpu: "required" };
    const run = JSON.stringify({ options, devices: ["webgpu"], blocks: true });
    const { error, losses } = await resultOf(
      suite.browser,
      `${server.url}webgpu.html?${new URLSearchParams({ run })}`,
    );
    assert.equal(error, undefined);
    assert.ok(losses.webgpu.at(-1) < losses.webgpu[0]);
  });

  test("gets an error if there is no WebGPU, and trains on the CPU", async () => {
    const plain = await startChromium(["--disable-features=WebGPU,WebGPUService"]);
    try {
      const server = await serve(suite.project.folder);
      const query = (run) => new URLSearchParams({ run: JSON.stringify(run) });
      const options = { threads: 2, variant: "simd" };
      const required = { options: { ...options, webgpu: "required" }, devices: ["cpu"] };
      const { error } = await resultOf(plain, `${server.url}webgpu.html?${query(required)}`);
      assert.match(error, /^DeviceUnavailable: .*\[init\]/);
      const auto = { options, devices: ["cpu"] };
      const { losses } = await resultOf(plain, `${server.url}webgpu.html?${query(auto)}`);
      assert.equal(losses.cpu.length, 20);
    } finally {
      await plain.close();
    }
  });

  test("served by Vite trains as on the CPU", async () => {
    const server = await serveWithVite(suite.project.folder, ["--config", "isolated.config.mjs"]);
    suite.servers.push(server);
    await assertTrains(server);
  });

  test("built by Vite contains the player and finds it", async () => {
    const server = await serve(await buildWithVite(suite.project.folder, kBase, kWebGpuPage), {
      base: kBase,
    });
    await assertTrains(server);
    assert.ok(server.requests.some((path) => kPlayer.test(path)));
  });

  test("built by webpack, without a warning, contains the player and finds it", async () => {
    const { out, messages } = await buildWithWebpack(suite.project.folder, kWebGpuPage);
    assert.deepEqual(messages, []);
    await assertTrains(await serve(out, { base: kBase }));
  });

  test("built by esbuild finds the player beside it", async () => {
    await assertTrains(
      await serve(await buildWithEsbuild(suite.project.folder, kWebGpuPage), { base: kBase }),
    );
  });
});
