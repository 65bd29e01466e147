#!/usr/bin/env node
// edgegrad-federated: coordinates a federated run that a module describes, and shows its rounds.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const kHelp = `edgegrad-federated MODULE [--servers ADDRESS] [--dashboard PORT]
edgegrad-federated list [--servers ADDRESS]
edgegrad-federated show | pause | resume | stop RUN [--servers ADDRESS]
edgegrad-federated delete RUN [--force] [--servers ADDRESS]
edgegrad-federated rollback RUN --round NUMBER|best [--force] [--servers ADDRESS]
edgegrad-federated rollout RUN --revision NAME --share SHARE [--config FILE] [--weights FILE] [--servers ADDRESS]
edgegrad-federated withdraw RUN [--servers ADDRESS]

Coordinates the run whose options for serve() are the default export of a module:

  import { nn } from "edgegrad";
  import { FedAvg } from "edgegrad/federated";
  export default {
    run: "digits", rounds: 20, minClients: 4, deadline: 60_000,
    model: () => new nn.Linear(784, 10), strategy: new FedAvg(),
  };

It writes a line of JSON for each event and each round. With --dashboard, a page at http://127.0.0.1:PORT shows
clients, rounds, metrics, bytes and refused updates; /metrics has them for Prometheus, and /healthz answers 200 while
the server stores, otherwise 503. Started again after it was killed, the run goes on where it was.

The other commands are for runs that a server has. pause and stop let the open round end; rollback continues a run after
an earlier round, of which keepRounds and keepBest of serve() say which are kept; --force is for a coordinator that was killed.
rollout has a share of the clients, such as 0.1, train another revision: with the config of a JSON file and the weights
of a safetensors file, or those of the run. Called again, it changes the share; 1 makes the revision the run's own, and
withdraw has all clients train the run's own again. The page, the lines and show have the metrics of both.

The environment variable NATS_NKEY_SEED is the seed of an nkey to log in with; other credentials are those of the module.
See docs/guide/federated.md of the package.`;

const kOptions = {
  servers: { type: "string" },
  dashboard: { type: "string" },
  round: { type: "string" },
  revision: { type: "string" },
  share: { type: "string" },
  config: { type: "string" },
  weights: { type: "string" },
  force: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
};

const kServers = "nats://127.0.0.1:4222";

/** A mistake of the user, which is reported without a stack. */
class Mistake extends Error {}

/** Starts the server of the dashboard, of the metrics and of the health; `state` returns what they show. */
function startDashboard(port, state) {
  const pages = {
    "/state": async () => [200, "application/json", JSON.stringify(await state())],
    "/metrics": async () => [200, "text/plain; version=0.0.4", metricsOf(await state())],
    "/healthz": async () => {
      const { isStoring } = await state();
      return [
        isStoring ? 200 : 503,
        "text/plain",
        isStoring ? "ok\n" : "the server does not store\n",
      ];
    },
  };
  const server = createServer(async (request, response) => {
    const make = Object.hasOwn(pages, request.url)
      ? pages[request.url]
      : () => [200, "text/html", kPage];
    const [status, type, text] = await make();
    response.writeHead(status, { "content-type": type });
    response.end(text);
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

/** The metrics in the text format of Prometheus. */
function metricsOf(state) {
  const { run, round, rounds, leads, isStoring, clients, clientVersions, history, events } = state;
  const last = history.at(-1);
  const sum = (of) => history.reduce((total, round) => total + of(round), 0);
  const gauges = {
    round,
    rounds,
    leads: Number(leads),
    storing: Number(isStoring),
    clients: clients.length,
    last_round_updates: last?.clients.length ?? 0,
    last_round_seconds: (last?.time ?? 0) / 1000,
  };
  const counters = {
    bytes_up: sum((round) => round.bytesUp),
    bytes_down: sum((round) => round.bytesDown),
  };
  const quoted = (text) => JSON.stringify(String(text));
  const labels = `run=${quoted(run)}`;
  const lines = [
    ...Object.entries(gauges).flatMap(([name, value]) => [
      `# TYPE edgegrad_${name} gauge`,
      `edgegrad_${name}{${labels}} ${value}`,
    ]),
    ...Object.entries(counters).flatMap(([name, value]) => [
      `# TYPE edgegrad_${name}_total counter`,
      `edgegrad_${name}_total{${labels}} ${value}`,
    ]),
    "# TYPE edgegrad_events_total counter",
    ...Object.entries(events).map(
      ([type, count]) => `edgegrad_events_total{${labels},type=${quoted(type)}} ${count}`,
    ),
    "# TYPE edgegrad_client_versions gauge",
    ...Object.entries(clientVersions).map(
      ([name, count]) => `edgegrad_client_versions{${labels},version=${quoted(name)}} ${count}`,
    ),
    "# TYPE edgegrad_rollout_metric gauge",
    ...Object.entries(last?.rollout?.metrics ?? {}).map(
      ([name, value]) =>
        `edgegrad_rollout_metric{${labels},revision=${quoted(last.rollout.revision)},name=${quoted(name)}} ${value}`,
    ),
    "# TYPE edgegrad_metric gauge",
    ...Object.entries(last?.metrics ?? {}).map(
      ([name, value]) => `edgegrad_metric{${labels},name=${quoted(name)}} ${value}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

const kPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Federated run</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: 0.3rem 0.8rem 0.3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
  td { font-variant-numeric: tabular-nums; }
</style>
<h1 id="title">Federated run</h1>
<p id="now" role="status"></p>
<p id="versions"></p>
<div class="wide" tabindex="0" role="region" aria-label="Rounds">
<table>
  <thead><tr><th>Round<th>Clients<th>Metrics<th>Rollout<th>kB up<th>kB down<th>Refused<th>Seconds</thead>
  <tbody id="rounds"></tbody>
</table>
</div>
<script>
  const listed = (values) => Object.entries(values)
    .map(([name, value]) => name + " " + (Number.isInteger(value) ? value : value.toPrecision(4))).join(", ");
  const kB = (bytes) => (bytes / 1000).toFixed(1);
  const rolled = ({ revision, share, clients, metrics }) =>
    revision + " for " + Number((100 * share).toPrecision(3)) + " %: clients " + clients.length +
    (Object.keys(metrics).length ? "; " + listed(metrics) : "");
  const versionsOf = (versions) => Object.entries(versions)
    .map(([name, count]) => (name || "no version") + ": " + count).join(", ");
  async function refresh() {
    try {
      const { run, round, rounds, leads, clients, clientVersions, isDone, history } = await (await fetch("/state")).json();
      document.title = document.getElementById("title").textContent = "Run " + run;
      const state = isDone ? "finished" : leads ? "leads" : "stands by";
      document.getElementById("now").textContent =
        "Round " + round + " of " + rounds + "; this coordinator " + state + "; clients that are there: " + clients.length + (clients.length ? " (" + clients.join(", ") + ")" : "");
      // Of clients that say none there is nothing to show.
      const isShown = Object.keys(clientVersions).some((name) => name !== "");
      document.getElementById("versions").textContent = isShown ? "Versions of clients: " + versionsOf(clientVersions) : "";
      document.getElementById("rounds").replaceChildren(...history.toReversed().map((one) => {
        const row = document.createElement("tr");
        const metrics = { ...one.metrics, ...(one.epsilon === undefined ? {} : { epsilon: one.epsilon }) };
        for (const text of [one.round, one.clients.length, listed(metrics), one.rollout ? rolled(one.rollout) : "", kB(one.bytesUp), kB(one.bytesDown),
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

/** Returns a function that resolves to the rounds of a run so far; while the server does not answer, to those that are known. */
function historyOf(coordinator) {
  let last = 0;
  let rounds = [];
  coordinator.finished.then(
    (history) => {
      ({ rounds } = history);
      last = Number.POSITIVE_INFINITY;
    },
    () => {},
  );
  return async () => {
    const { round } = coordinator;
    if (round > last) {
      const found = await coordinator.history().catch(() => null);
      if (found !== null && round > last) {
        ({ rounds } = found);
        last = round;
      }
    }
    return rounds;
  };
}

async function optionsFrom(module, servers) {
  const { default: options } = await import(pathToFileURL(resolve(module)).href);
  if (typeof options !== "object" || options === null) {
    throw new Mistake(`${module}: expected options of serve() as the default export`);
  }
  return {
    servers: kServers,
    ...options,
    ...(servers && { servers: servers.split(",") }),
    ...credentialsWith(options.credentials),
  };
}

/** The option `credentials`, with the seed of the environment in place of another key. */
function credentialsWith(credentials) {
  const seed = process.env.NATS_NKEY_SEED;
  if (!seed) return credentials === undefined ? {} : { credentials };
  const { creds: _, ...others } = credentials ?? {};
  return { credentials: { ...others, nkeySeed: seed } };
}

const kCommands = {
  list: async (federated, where) => {
    const runs = await federated.listRuns(where);
    for (const run of runs) console.log(lineOfRun(run));
    if (runs.length === 0) console.log("no runs");
  },
  show: async ({ listRuns }, where, run) => {
    const found = (await listRuns(where)).find((listed) => listed.run === run);
    if (found === undefined) throw new Mistake(`there is no run ${JSON.stringify(run)}`);
    console.log(JSON.stringify(found, null, 2));
  },
  pause: ({ pauseRun }, where, run) => pauseRun({ ...where, run }),
  resume: ({ resumeRun }, where, run) => resumeRun({ ...where, run }),
  stop: ({ stopRun }, where, run) => stopRun({ ...where, run }),
  delete: ({ deleteRun }, where, run, { force }) => deleteRun({ ...where, run, force }),
  rollback: ({ rollBackRun }, where, run, { force, round }) =>
    rollBackRun({ ...where, run, force, round: round === "best" ? round : Number(round) }),
  rollout: ({ rollOutRun }, where, run, { revision, share, config, weights }) =>
    rollOutRun({
      ...where,
      run,
      revision,
      share: Number(share),
      ...(config && { config: parsed(config) }),
      ...(weights && { weights: contentOf(weights) }),
    }),
  withdraw: ({ withdrawRollout }, where, run) => withdrawRollout({ ...where, run }),
};

function contentOf(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Mistake(error.message);
  }
}

function parsed(file) {
  try {
    return JSON.parse(contentOf(file).toString());
  } catch (error) {
    throw new Mistake(`${file}: ${error.message}`);
  }
}

function lineOfRun({
  run,
  state,
  control,
  round,
  rounds,
  strategy,
  leader,
  bytes,
  rollout,
  ...others
}) {
  const doing = control === "running" ? state : `${state}, ${control}`;
  const who = leader === null ? "no coordinator" : leader;
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  const own = others.revision === "" ? "" : `, revision ${others.revision}`;
  const tried = rollout === null ? "" : `, ${rollout.revision} for ${percentOf(rollout.share)}`;
  return `${run}: ${doing}, round ${round} of ${rounds}, ${strategy}${own}${tried}, ${who}, ${size}`;
}

const percentOf = (share) => `${Number((100 * share).toPrecision(3))} %`;

/** Carries out a command for runs that a server has. */
async function control(command, run, values) {
  const federated = await import("edgegrad/federated");
  const where = { servers: values.servers?.split(",") ?? kServers, ...credentialsWith(undefined) };
  await kCommands[command](federated, where, run, values);
}

function portFrom(text) {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Mistake(`--dashboard: expected a port, got ${JSON.stringify(text)}`);
}

async function run() {
  const { values, positionals } = parseArgs({ options: kOptions, allowPositionals: true });
  const [first, second] = positionals;
  const isCommand = first !== undefined && Object.hasOwn(kCommands, first);
  if (isCommand && !values.help && positionals.length === (first === "list" ? 1 : 2)) {
    await control(first, second, values);
    return;
  }
  if (values.help || isCommand || positionals.length !== 1) {
    console.log(kHelp);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const port = values.dashboard === undefined ? null : portFrom(values.dashboard);
  const { init } = await import("edgegrad");
  const { serve } = await import("edgegrad/federated");
  const options = await optionsFrom(positionals[0], values.servers);
  await init();
  const events = {};
  let isDone = false;
  let isStoring = true;
  const coordinator = await serve({
    ...options,
    onEvent: (event) => {
      events[event.type] = (events[event.type] ?? 0) + 1;
      if (event.type === "storeFailed") isStoring = false;
      if (event.type === "storeRecovered") isStoring = true;
      console.log(JSON.stringify({ time: new Date().toISOString(), ...event }));
      options.onEvent?.(event);
    },
    onRound: (summary) => {
      console.log(JSON.stringify(summary));
      options.onRound?.(summary);
    },
  });
  if (port !== null) {
    const history = historyOf(coordinator);
    startDashboard(port, async () => ({
      run: options.run,
      round: coordinator.round,
      rounds: options.rounds,
      leads: coordinator.leads,
      clients: coordinator.clients,
      clientVersions: coordinator.clientVersions,
      isDone,
      isStoring,
      events,
      history: await history(),
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
