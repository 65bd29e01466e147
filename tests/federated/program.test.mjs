// npx edgegrad-federated: a run from a module, with its dashboard.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPaths } from "node:path";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { runNode } from "../js/support/child.mjs";
import { readJson } from "../js/support/files.mjs";
import { soon, until } from "../support/until.mjs";
import { join, serve } from "./support/members.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, trainerOf } from "./support/task.mjs";

const kProgram = readJson("package.json").bin["edgegrad-federated"];
const kModule = "tests/federated/support/run_options.mjs";

let nats;
await eg.init();
before(async () => {
  nats = await startNats();
});
after(() => nats.close());

describe("edgegrad-federated", () => {
  test("coordinates a run, shows it on a dashboard, and ends with it", async () => {
    let address = () => {};
    const isListening = new Promise((resolve) => {
      address = resolve;
    });
    const onOutput = (_, { stdout }) => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? [];
      if (found !== undefined) address(found);
    };
    const args = [kProgram, kModule, "--servers", nats.url, "--dashboard", "0"];
    const program = runNode(args, { onOutput });
    const url = await soon("address of the dashboard", isListening);
    assert.match(await (await fetch(url)).text(), /<title>Federated run<\/title>/);
    const before = await (await fetch(`${url}/state`)).json();
    assert.deepEqual([before.run, before.round, before.history], ["program", 1, []]);
    const options = { servers: nats.url, run: "program", model: makeModel };
    let during = null;
    let metrics = "";
    let health = null;
    const client = await join({
      ...options,
      name: "here",
      version: "1.2.0",
      train: async (input) => {
        if (input.round === 2) {
          during = await (await fetch(`${url}/state`)).json();
          metrics = await (await fetch(`${url}/metrics`)).text();
          health = await fetch(`${url}/healthz`);
        }
        return trainerOf(0)(input);
      },
    });
    await soon("end of the client", client.finished);
    const { status, stdout, stderr } = await program;
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
    assert.match(stdout, /finished after 2 rounds/);
    assert.match(stdout, /^\{"time":"[^"]+","type":"opened","level":"info","run":"program"/m);
    assert.equal(health.status, 200);
    assert.match(metrics, /^edgegrad_round\{run="program"\} 2$/m);
    assert.match(metrics, /^edgegrad_events_total\{run="program",type="closed"\} 1$/m);
    assert.match(metrics, /^edgegrad_metric\{run="program",name="loss"\} [\d.]+$/m);
    assert.match(metrics, /^edgegrad_client_versions\{run="program",version="1\.2\.0"\} 1$/m);
    assert.deepEqual(during.clients, ["here"]);
    assert.deepEqual(during.history[0].clients, ["here"]);
  });

  test("shows the whole history where it stands by, and after a restart", async () => {
    const shown = async (isOf) => {
      let address = () => {};
      const isListening = new Promise((resolve) => {
        address = resolve;
      });
      const onOutput = (child, { stdout }) => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? [];
        if (found !== undefined) address({ child, url: found });
      };
      const module = "tests/federated/support/standby_options.mjs";
      const args = [kProgram, module, "--servers", nats.url, "--dashboard", "0"];
      const ended = runNode(args, { onOutput });
      const { child, url } = await soon("address of the dashboard", isListening);
      const state = await until("history on the dashboard", async () => {
        const found = await (await fetch(`${url}/state`)).json();
        return isOf(found) && found;
      });
      child.kill("SIGTERM");
      await ended;
      return state;
    };
    const run = { servers: nats.url, run: "standby", model: makeModel };
    const options = { strategy: new FedAvg(), rounds: 4, minClients: 1, deadline: kNever };
    const coordinator = await serve({ ...run, ...options });
    let goOn = () => {};
    const mayGoOn = new Promise((resolve) => {
      goOn = resolve;
    });
    const client = await join({
      ...run,
      name: "here",
      train: async (input) => {
        if (input.round === 3) await mayGoOn;
        return trainerOf(0)(input);
      },
    });
    await until("third round", () => coordinator.round === 3);
    const beside = await shown(({ history }) => history.length === 2);
    assert.equal(beside.leads, false);
    await coordinator.stop();
    const after = await shown(({ leads }) => leads);
    assert.deepEqual(after.history, beside.history);
    goOn();
    await client.leave();
  });

  test("lists, shows, pauses, resumes, rolls back and deletes runs", async () => {
    const call = async (...args) => {
      const { status, stdout, stderr } = await runNode([kProgram, ...args, "--servers", nats.url]);
      assert.deepEqual({ status, stderr }, { status: 0, stderr: "" }, args.join(" "));
      return stdout;
    };
    const run = { servers: nats.url, run: "kept", model: makeModel };
    const options = { strategy: new FedAvg(), rounds: 2, minClients: 1, deadline: kNever };
    const coordinator = await serve({ ...run, ...options, keepRounds: 2 });
    const client = await join({ ...run, name: "here", train: trainerOf(0) });
    await endOf(coordinator, [client]);
    const finished = /^kept: finished, round 2 of 2, FedAvg, no coordinator, 0\.0 MB$/m;
    assert.match(await call("list"), finished);
    await call("pause", "kept");
    assert.match(await call("list"), /^kept: finished, paused,/m);
    await call("resume", "kept");
    assert.match(await call("list"), finished);
    await call("rollback", "kept", "--round", "1");
    const shown = JSON.parse(await call("show", "kept"));
    assert.deepEqual([shown.state, shown.round, shown.keptRounds], ["waiting", 2, [1]]);
    const folder = mkdtempSync(joinPaths(tmpdir(), "edgegrad-config-"));
    const config = joinPaths(folder, "config.json");
    writeFileSync(config, JSON.stringify({ lr: 0.1 }));
    await call("rollout", "kept", "--revision", "v2", "--share", "0.1", "--config", config);
    await call("withdraw", "kept");
    rmSync(folder, { recursive: true });
    await call("delete", "kept");
    const { status, stderr } = await runNode([kProgram, "show", "kept", "--servers", nats.url]);
    assert.deepEqual({ status, stderr }, { status: 1, stderr: 'there is no run "kept"\n' });
  });

  test("says what is wrong with its arguments", async () => {
    const wrong = async (...args) => {
      const { status, stderr } = await runNode([kProgram, ...args]);
      return { status, stderr };
    };
    const port = await wrong(kModule, "--dashboard", "http");
    assert.deepEqual(port, { status: 1, stderr: '--dashboard: expected a port, got "http"\n' });
    const module = await wrong("tests/federated/support/task.mjs");
    assert.match(module.stderr, /expected options of serve\(\) as the default export/);
    assert.equal((await wrong()).status, 2);
  });
});
