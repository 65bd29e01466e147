// A page in Chromium as a client, over WebSocket, from plain files with an import map.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPaths } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as eg from "edgegrad";
import { FedAvg, join, serve } from "edgegrad/federated";
import { build } from "esbuild";
import { startNats } from "../../examples/support/nats_server.mjs";
import { serveFolder } from "../../scripts/serve_folder.mjs";
import { noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { resultOf } from "../browser/support/pages.mjs";
import { kRoot } from "../js/support/files.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

// What a user writes, and a bundler makes into a file.
const kScript = `
  import * as eg from "edgegrad";
  import { join } from "edgegrad/federated";
  import { makeModel, trainerOf } from "./task.mjs";
  const tell = (result) => { document.body.textContent = JSON.stringify(result); };
  try {
    const { servers, run, client } = Object.fromEntries(new URL(location).searchParams);
    await eg.init();
    const rounds = [];
    const train = trainerOf(Number(client));
    const onRound = ({ round, outcome }) => {
      rounds.push([round, outcome]);
      document.title = "round " + round;
    };
    const name = "client-" + client;
    const joined = await join({ servers, run, name, model: makeModel, train, onRound });
    await joined.finished;
    tell({ rounds });
  } catch (error) {
    tell({ error: String(error) });
  }`;
const kPage = `<!doctype html>
<script type="importmap">{ "imports": { "edgegrad": "/dist/index.js" } }</script>
<script type="module" src="app.js"></script>`;

/** Writes the files of a page: its script with the add-on and NATS's packages, bundled for a browser, and the engine as it is. */
async function makeSite() {
  const folder = mkdtempSync(joinPaths(tmpdir(), "edgegrad-page-"));
  const resolveDir = fileURLToPath(new URL("support", import.meta.url));
  // The plugin keeps the engine out, and only that: `external` would keep the add-on out, too.
  const engine = {
    name: "engine",
    setup: ({ onResolve }) =>
      onResolve({ filter: /^edgegrad$/ }, ({ path }) => ({ path, external: true })),
  };
  await build({
    stdin: { contents: kScript, resolveDir },
    outdir: folder,
    entryNames: "app",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    plugins: [engine],
    // As the guide says: of the package for coordinators, which clients do not load.
    external: ["node:*"],
    logLevel: "error",
  });
  symlinkSync(joinPaths(kRoot, "dist"), joinPaths(folder, "dist"));
  writeFileSync(joinPaths(folder, "index.html"), kPage);
  return folder;
}

describe("a page as a client", { skip: noBrowser, timeout: 120_000 }, () => {
  let nats;
  let folder;
  let server;
  let browser;
  before(async () => {
    await eg.init();
    folder = await makeSite();
    [nats, browser, server] = await Promise.all([
      startNats(),
      startChromium(),
      serveFolder(folder),
    ]);
  });
  after(async () => {
    await browser?.close();
    server?.stop();
    await nats?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  const address = (run, client) =>
    `${server.url}?${new URLSearchParams({ servers: nats.webSocketUrl, run, client })}`;
  const start = (run, options) =>
    serve({
      servers: nats.url,
      run,
      model: makeModel,
      strategy: new FedAvg(),
      seed: 3,
      ...options,
    });
  const nodeClient = (run, more = {}) =>
    join({
      servers: nats.url,
      run,
      name: "client-0",
      model: makeModel,
      train: trainerOf(0),
      ...more,
    });

  test("trains with one in Node, and the weights are those of both", async () => {
    const rounds = 4;
    const coordinator = await start("page", { rounds, minClients: 2, deadline: 60_000 });
    const client = await nodeClient("page");
    const { error, ...result } = await resultOf(browser, address("page", 1));
    assert.equal(error, undefined);
    assert.deepEqual(
      result.rounds,
      Array.from({ length: rounds }, (_, i) => [i + 1, "sent"]),
    );
    const history = await coordinator.finished;
    await client.finished;
    for (const { clients, refused } of history.rounds) {
      assert.deepEqual([clients, refused], [["client-0", "client-1"], {}]);
    }
    // Chromium takes another variant of the engine than Node, which rounds products differently.
    const found = numbersOf(coordinator.stateDict());
    const expected = referenceWeights({ clients: 2, rounds, seed: 3 });
    for (const [key, values] of Object.entries(expected)) {
      for (const [i, value] of values.entries()) {
        assert.ok(Math.abs(found[key][i] - value) < 1e-4, `${key}: ${found[key][i]}, ${value}`);
      }
    }
  });

  test("masks its updates, which clients in Node take off again", async () => {
    const options = { rounds: 2, minClients: 3, minUpdates: 2, deadline: 20_000 };
    const coordinator = await start("masked", { ...options, secureAggregation: {} });
    const clients = await Promise.all([
      nodeClient("masked"),
      nodeClient("masked", { name: "client-2", train: trainerOf(2) }),
    ]);
    const { error, rounds } = await resultOf(browser, address("masked", 1));
    assert.equal(error, undefined);
    assert.deepEqual(rounds, [
      [1, "sent"],
      [2, "sent"],
    ]);
    await coordinator.finished;
    await Promise.all(clients.map(({ finished }) => finished));
    const found = numbersOf(coordinator.stateDict());
    const expected = referenceWeights({ clients: 3, rounds: 2, seed: 3 });
    for (const [key, values] of Object.entries(expected)) {
      for (const [i, value] of values.entries()) {
        assert.ok(Math.abs(found[key][i] - value) < 1e-4, `${key}: ${found[key][i]}, ${value}`);
      }
    }
  });

  test("that is closed is left out, and takes part again when it is opened", async () => {
    const options = { rounds: 6, minClients: 2, minUpdates: 1, deadline: 2000 };
    const coordinator = await start("closed", options);
    let mayGoOn = () => {};
    const isOpenAgain = new Promise((resolve) => {
      mayGoOn = resolve;
    });
    const train = trainerOf(0);
    const client = await nodeClient("closed", {
      train: async (input) => {
        if (input.round === 4) await isOpenAgain;
        return train(input);
      },
    });
    const page = await browser.newPage();
    await page.goto(address("closed", 1));
    await page.waitForFunction(() => document.title === "round 1");
    await page.close();
    const again = resultOf(browser, address("closed", 1));
    again.then(mayGoOn, mayGoOn);
    setTimeout(mayGoOn, 1500);
    const { rounds } = await coordinator.finished;
    await client.finished;
    assert.deepEqual(rounds[0].clients, ["client-0", "client-1"]);
    assert.equal(rounds.length, 6);
    const result = await again;
    assert.equal(result.error, undefined);
    const sent = result.rounds.filter(([, outcome]) => outcome === "sent").map(([round]) => round);
    for (const round of sent) assert.ok(rounds[round - 1].clients.includes("client-1"), `${round}`);
    assert.ok(sent.length > 0, JSON.stringify(result.rounds));
  });
});
