// node --expose-gc tests/bench/federated/crowd.mjs [--clients 1000] [--rounds 10]: many clients of a small model in a few processes. Prints rounds per
// minute, updates per second, and the memory of the coordinator and of the server after each round.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { FedAvg, join, serve } from "edgegrad/federated";
import { startNats } from "../../../examples/support/nats_server.mjs";

const kSelf = fileURLToPath(import.meta.url);
const kPerProcess = 250;
const number = (usual) => ({ type: "string", default: usual });
const { values } = parseArgs({
  options: {
    clients: number("1000"),
    rounds: number("10"),
    // Given to the processes of clients.
    servers: { type: "string" },
    first: number("0"),
  },
});
const clients = Number(values.clients);
const rounds = Number(values.rounds);
await eg.init({ threads: 1 });
const run = { run: "crowd", model: () => new eg.nn.Linear(20, 10) };

async function beClients() {
  const first = Number(values.first);
  const train = async ({ model }) => {
    eg.noGrad(() => model.weight.mul_(0.99));
    return { samples: 1 };
  };
  const joined = [];
  for (let i = first; i < first + clients; i++) {
    joined.push(await join({ ...run, servers: values.servers, name: `client-${i}`, train }));
  }
  await Promise.all(joined.map(({ finished }) => finished));
}

const megabytes = (bytes) => Math.round(bytes / 2 ** 20);

function memoryOfServer(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return megabytes(Number(kilobytes) * 1024);
}

async function coordinate() {
  const nats = await startNats();
  const began = performance.now();
  let last = began;
  console.log(`${clients} clients, load ${loadavg()[0].toFixed(1)}`);
  const coordinator = await serve({
    ...run,
    servers: nats.url,
    strategy: new FedAvg(),
    rounds,
    minClients: clients,
    deadline: 300_000,
    onRound: ({ round, clients: counted, refused }) => {
      const now = performance.now();
      const seconds = (now - last) / 1000;
      last = now;
      globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      console.log(
        `round ${round}: ${counted.length} updates in ${seconds.toFixed(1)} s, coordinator ${megabytes(rss)} MiB ` +
          `(heap ${megabytes(heapUsed)}), server ${memoryOfServer(nats.pid)} MiB, refused ${JSON.stringify(refused)}`,
      );
    },
  });
  const processes = [];
  for (let first = 0; first < clients; first += kPerProcess) {
    const count = Math.min(kPerProcess, clients - first);
    const args = ["--servers", nats.url, "--first", `${first}`, "--clients", `${count}`];
    processes.push(spawn(process.execPath, [kSelf, ...args], { stdio: "inherit" }));
  }
  const { rounds: done } = await coordinator.finished;
  await Promise.all(processes.map((child) => child.exitCode ?? once(child, "close")));
  // The first round waits until all have joined.
  const minutes = done.slice(1).reduce((sum, { time }) => sum + time, 0) / 60_000;
  console.log(
    `${((done.length - 1) / minutes).toFixed(1)} rounds per minute, load ${loadavg()[0].toFixed(1)}`,
  );
  await nats.close();
}

await (values.servers === undefined ? coordinate() : beClients());
