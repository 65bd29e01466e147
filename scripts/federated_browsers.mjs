// npm run federated:browsers: starts a NATS server, a coordinator and the site, whose page "Federated" takes part in the run. It prints the
// address to open in two browsers. `--rounds` is the number of rounds, and `--clients` the number of browsers to wait for.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kIsolation } from "./isolation.mjs";
import { ensurePackages } from "./machine/apt.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { kRoot, main, show } from "./process.mjs";
import { serveFolder } from "./serve_folder.mjs";

const kSite = join(kRoot, "build", "site");
const kDeadlineMs = 60_000;
const kLastLookMs = 3000;

/** Returns the value of a numeric option; throws if it is not a positive integer. */
function countOf(name, text) {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`--${name}: expected a whole number above 0, got ${JSON.stringify(text)}`);
}

await main(async () => {
  const text = (value) => ({ type: "string", default: value });
  const { values } = parseArgs({ options: { rounds: text("100"), clients: text("2") } });
  const rounds = countOf("rounds", values.rounds);
  const minClients = countOf("clients", values.clients);
  await ensureNodeModules();
  await ensurePackages("federated");
  if (!existsSync(join(kSite, "federated", "index.html"))) {
    await show(process.execPath, [join(kRoot, "scripts", "site.mjs")]);
  }
  // Imported after the build.
  const eg = await import("edgegrad");
  const { FedAvg, serve } = await import("edgegrad/federated");
  const { makeModel } = await import("../examples/support/federated_task.mjs");
  const { startNats } = await import("../examples/support/nats_server.mjs");
  await eg.init({ threads: 1 });
  const nats = await startNats();
  const site = await serveFolder(kSite, { headers: kIsolation });
  const query = new URLSearchParams({ server: nats.webSocketUrl, run: "browsers" });
  const coordinator = await serve({
    servers: nats.url,
    run: "browsers",
    model: makeModel,
    strategy: new FedAvg(),
    rounds,
    minClients,
    deadline: kDeadlineMs,
    onRound: ({ round, clients, metrics }) =>
      console.log(`round ${round} of ${rounds}: ${clients.length} browsers, loss ${metrics.loss}`),
  });
  console.log(`Open this address in ${minClients} browsers, and join with other digits in each:`);
  console.log(`${site.url}federated/?${query}`);
  await coordinator.finished;
  // Browsers notice the end of the run by polling at least every two seconds.
  await new Promise((resolve) => setTimeout(resolve, kLastLookMs));
  site.stop();
  await nats.close();
});
