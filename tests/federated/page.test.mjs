// A page in Chromium as a client, over WebSocket, from plain files with an import map.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPaths } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { build } from "esbuild";
import { startNats } from "../../examples/support/nats_server.mjs";
import { serveFolder } from "../../scripts/serve_folder.mjs";
import { noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { resultOf } from "../browser/support/pages.mjs";
import { kRoot } from "../js/support/files.mjs";
import { soon } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { referenceWeights } from "./support/reference.mjs";
import { endOf, kNever, passDeadline } from "./support/runs.mjs";
import { makeModel, numbersOf, trainerOf } from "./support/task.mjs";

// A browser is slow on a busy machine only.
const kMost = 120_000; // ms

// What a user writes, and a bundler makes into a file.
const kScript = `
  import * as eg from "edgegrad";
  import { join } from "edgegrad/federated";
  import { makeModel, trainerOf } from "./task.mjs";
  const tell = (result) => { document.body.textContent = JSON.stringify(result); };
  try {
    const { servers, run, client, hold } = Object.fromEntries(new URL(location).searchParams);
    await eg.init();
    const rounds = [];
    const trainer = trainerOf(Number(client));
    const train = async (input) => {
      document.title = "round " + input.round;
      if (input.round === Number(hold)) await new Promise(() => {});
      return trainer(input);
    };
    const onRound = ({ round, outcome }) => rounds.push([round, outcome]);
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

describe("a page as a client", { skip: noBrowser }, () => {
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

  const address = (run, client, more = {}) =>
    `${server.url}?${new URLSearchParams({ servers: nats.webSocketUrl, run, client, ...more })}`;
  const optionsOf = (run, options) => ({
    servers: nats.url,
    run,
    model: makeModel,
    strategy: new FedAvg(),
    seed: 3,
    deadline: kNever,
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
    const coordinator = await serve(optionsOf("page", { rounds, minClients: 2 }));
    const client = await nodeClient("page");
    const { error, ...result } = await resultOf(browser, address("page", 1));
    assert.equal(error, undefined);
    assert.deepEqual(
      result.rounds,
      Array.from({ length: rounds }, (_, i) => [i + 1, "sent"]),
    );
    const history = await endOf(coordinator, [client]);
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
    const options = { rounds: 2, minClients: 3, secureAggregation: { handshake: kNever } };
    const coordinator = await serve(optionsOf("masked", options));
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
    await endOf(coordinator, clients);
    const found = numbersOf(coordinator.stateDict());
    const expected = referenceWeights({ clients: 3, rounds: 2, seed: 3 });
    for (const [key, values] of Object.entries(expected)) {
      for (const [i, value] of values.entries()) {
        assert.ok(Math.abs(found[key][i] - value) < 1e-4, `${key}: ${found[key][i]}, ${value}`);
      }
    }
  });

  test("that is closed is left out, and takes part again when it is opened", async () => {
    let tell = () => {};
    const isOver = new Promise((resolve) => {
      tell = resolve;
    });
    const options = optionsOf("closed", {
      rounds: 3,
      minClients: 2,
      minUpdates: 1,
      onRound: ({ round }) => round === 2 && tell(),
    });
    const first = await serve(options);
    let sent = () => {};
    const isSent = new Promise((resolve) => {
      sent = resolve;
    });
    const client = await nodeClient("closed", { onRound: ({ round }) => round === 2 && sent() });
    const page = await browser.newPage();
    await page.goto(address("closed", 1, { hold: 2 }));
    const isThere = () => document.title === "round 2" || document.body.textContent.startsWith("{");
    await page.waitForFunction(isThere, null, { timeout: kMost });
    assert.equal(
      await page.title(),
      "round 2",
      await page.evaluate(() => document.body.textContent),
    );
    await page.close();
    await soon("update of the client in Node", isSent);
    const coordinator = await passDeadline(first, options);
    await soon("end of the round without the page", isOver);
    const { error, rounds } = await resultOf(browser, address("closed", 1));
    assert.equal(error, undefined);
    assert.deepEqual(rounds, [[3, "sent"]]);
    const history = await endOf(coordinator, [client]);
    assert.deepEqual(
      history.rounds.map(({ clients }) => clients),
      [["client-0", "client-1"], ["client-0"], ["client-0", "client-1"]],
    );
  });
});
