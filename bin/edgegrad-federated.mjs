#!/usr/bin/env node
// edgegrad-federated: coordinates a federated run that a module describes, and shows its rounds.

import { createServer } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const kHelp = `edgegrad-federated MODULE [--servers ADDRESS] [--dashboard PORT]

Coordinates the run whose options for serve() are the default export of a module:

  import { nn } from "edgegrad";
  import { FedAvg } from "edgegrad/federated";
  export default {
    run: "digits", rounds: 20, minClients: 4, deadline: 60_000,
    model: () => new nn.Linear(784, 10), strategy: new FedAvg(),
  };

The environment variable NATS_NKEY_SEED is the seed of an nkey to log in with. With --dashboard, a page at
http://127.0.0.1:PORT shows clients, rounds, metrics, bytes and refused updates. Started again after it was
killed, the run goes on where it was. See docs/guide/federated.md of the package.`;

const kOptions = {
  servers: { type: "string" },
  dashboard: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
};

/** A mistake of the user, which is reported without a stack. */
class Mistake extends Error {}

/** Starts the dashboard's server; `state` returns what it shows. */
function startDashboard(port, state) {
  const server = createServer((request, response) => {
    const isData = request.url === "/state";
    response.writeHead(200, { "content-type": isData ? "application/json" : "text/html" });
    response.end(isData ? JSON.stringify(state()) : kPage);
  });
  server.on("error", (error) => {
    console.error(`--dashboard: ${error.message}`);
    process.exitCode = 1;
  });
  // Only this machine sees it: it has no login.
  server.listen(port, "127.0.0.1", () => {
    console.log(`dashboard: http://127.0.0.1:${server.address().port}`);
  });
  // The run decides when the program ends.
  server.unref();
}

const kPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Federated run</title>
<style>
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color-scheme: light dark; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
  td { font-variant-numeric: tabular-nums; }
</style>
<h1 id="title">Federated run</h1>
<p id="now" role="status"></p>
<table>
  <thead><tr><th>Round<th>Clients<th>Metrics<th>kB up<th>kB down<th>Refused<th>Seconds</thead>
  <tbody id="rounds"></tbody>
</table>
<script>
  const listed = (values) => Object.entries(values)
    .map(([name, value]) => name + " " + (Number.isInteger(value) ? value : value.toPrecision(4))).join(", ");
  const kB = (bytes) => (bytes / 1000).toFixed(1);
  async function refresh() {
    try {
      const { run, round, rounds, leads, clients, isDone, history } = await (await fetch("/state")).json();
      document.title = document.getElementById("title").textContent = "Run " + run;
      const state = isDone ? "finished" : leads ? "leads" : "stands by";
      document.getElementById("now").textContent =
        "Round " + round + " of " + rounds + "; this coordinator " + state + "; clients that are there: " + clients.length + (clients.length ? " (" + clients.join(", ") + ")" : "");
      document.getElementById("rounds").replaceChildren(...history.toReversed().map((one) => {
        const row = document.createElement("tr");
        const metrics = { ...one.metrics, ...(one.epsilon === undefined ? {} : { epsilon: one.epsilon }) };
        for (const text of [one.round, one.clients.length, listed(metrics), kB(one.bytesUp), kB(one.bytesDown),
          listed(one.refused), (one.time / 1000).toFixed(1)]) row.insertCell().textContent = text;
        return row;
      }));
    } catch {
      document.getElementById("now").textContent = "The coordinator does not answer.";
    }
    setTimeout(refresh, 1000);
  }
  refresh();
</script>
</html>`;

async function optionsFrom(module, servers) {
  const { default: options } = await import(pathToFileURL(resolve(module)).href);
  if (typeof options !== "object" || options === null) {
    throw new Mistake(`${module}: expected options of serve() as the default export`);
  }
  const seed = process.env.NATS_NKEY_SEED;
  return {
    servers: "nats://127.0.0.1:4222",
    ...options,
    ...(servers && { servers: servers.split(",") }),
    ...(seed && { credentials: { nkeySeed: seed } }),
  };
}

function portFrom(text) {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Mistake(`--dashboard: expected a port, got ${JSON.stringify(text)}`);
}

async function run() {
  const { values, positionals } = parseArgs({ options: kOptions, allowPositionals: true });
  if (values.help || positionals.length !== 1) {
    console.log(kHelp);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const port = values.dashboard === undefined ? null : portFrom(values.dashboard);
  const { init } = await import("edgegrad");
  const { serve } = await import("edgegrad/federated");
  const options = await optionsFrom(positionals[0], values.servers);
  await init();
  const history = [];
  let isDone = false;
  const coordinator = await serve({
    ...options,
    onRound: (summary) => {
      history.push(summary);
      console.log(JSON.stringify(summary));
      options.onRound?.(summary);
    },
  });
  if (port !== null) {
    startDashboard(port, () => ({
      run: options.run,
      round: coordinator.round,
      rounds: options.rounds,
      leads: coordinator.leads,
      clients: coordinator.clients,
      isDone,
      history,
    }));
  }
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => coordinator.stop());
  const { isComplete, rounds } = await coordinator.finished;
  isDone = true;
  console.log(isComplete ? `finished after ${rounds.length} rounds` : "stopped; the run can go on");
}

try {
  await run();
} catch (error) {
  const isExpected =
    error instanceof Mistake ||
    error.name === "EdgeGradError" ||
    error.code?.startsWith?.("ERR_PARSE_ARGS");
  console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
