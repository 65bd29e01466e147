// node tests/bench/distributed/run.mjs [--rounds 3] [--batch 64,256]: two ranks against one process on the CNN, and against two processes
// that do not communicate, in turn. Prints images per second, milliseconds, those of the processors, and bytes per step.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, loadavg } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startNats } from "../../../examples/support/nats_server.mjs";
import { median } from "../clock.mjs";

const kRank = fileURLToPath(new URL("rank.mjs", import.meta.url));
const kBlocks = 30;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    batch: { type: "string", default: "64,256" },
  },
});
const rounds = Number(values.rounds);
const load = () => loadavg()[0].toFixed(1);

async function child(options) {
  const stdio = ["ignore", "pipe", "inherit"];
  const started = spawn(process.execPath, [kRank, JSON.stringify(options)], { stdio });
  const [output] = await Promise.all([text(started.stdout), once(started, "close")]);
  return JSON.parse(output);
}

let runs = 0;
async function processes(count, options) {
  const run = `bench${runs++}`;
  const given = { servers: nats.url, run, worldSize: 1, threads: 1, blocks: kBlocks, ...options };
  const all = await Promise.all(Array.from({ length: count }, () => child(given)));
  // The slower one counts: ranks wait for each other.
  const slowest = all.reduce((a, b) => (a.ms > b.ms ? a : b));
  return { ...slowest, waited: Math.min(...all.map(({ waited }) => waited)) };
}

const one = (options) => processes(1, options);
const ranks = (options) => processes(2, { worldSize: 2, ...options });

const row = (name, { images, ms, waited, cpu, bytes, messages }) =>
  console.log(
    `  ${name.padEnd(42)}${images.toFixed(0).padStart(8)} images/s${ms.toFixed(2).padStart(8)} ms` +
      `${waited.toFixed(2).padStart(7)} ms waiting${cpu.toFixed(2).padStart(7)} ms of a processor${bytes.toFixed(0).padStart(8)} bytes` +
      `${messages.toFixed(0).padStart(3)} messages per step and rank`,
  );

const nats = await startNats();
try {
  console.log(`${availableParallelism()} cores, load ${load()}`);
  const alone = await one({ batch: 1, isEmpty: true });
  const { ms, cpu } = await ranks({ batch: 1, isEmpty: true });
  console.log(
    `gradients of the same size and nothing else: ${ms.toFixed(2)} ms per step, ${cpu.toFixed(2)} of a processor; alone ${alone.cpu.toFixed(2)}`,
  );
  for (const batch of values.batch.split(",").map(Number)) {
    const half = batch / 2;
    // The third and fourth are what this machine's cores can do, without a network.
    const cases = {
      "one process, one thread": () => one({ batch }),
      "one process, two threads": () => one({ batch, threads: 2 }),
      "two processes on their own, half each": () => processes(2, { batch: half }),
      "two processes on their own, a batch each": () => processes(2, { batch }),
      "two ranks, half of the batch each": () => ranks({ batch: half }),
      "two ranks, a batch each": () => ranks({ batch }),
    };
    const images = [batch, batch, batch, 2 * batch, batch, 2 * batch];
    const found = Object.keys(cases).map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, run] of Object.values(cases).entries()) {
        const result = await run();
        found[i].push({ ...result, images: (1000 * images[i]) / result.ms });
      }
    }
    console.log(`batch ${batch}`);
    const rates = found.map((results) => results.map((one) => one.images));
    for (const [i, name] of Object.keys(cases).entries()) {
      const middle = median(rates[i]);
      row(name, found[i].find((one) => one.images === middle) ?? found[i][0]);
    }
    // Of each round, in which they ran one after another.
    for (const [what, over, under] of [
      ["two processes on their own, half each / one thread", 2, 0],
      ["two ranks, half each / one thread", 4, 0],
      ["two ranks, half each / two processes on their own", 4, 2],
      ["two processes on their own, a batch each / one thread", 3, 0],
      ["two ranks, a batch each / one thread", 5, 0],
      ["two ranks, a batch each / two processes on their own", 5, 3],
    ]) {
      const ratios = rates[over].map((rate, round) => rate / rates[under][round]);
      const text = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
      console.log(`  ${what}: ${median(ratios).toFixed(2)} (${text})`);
    }
  }
  console.log(`load ${load()}`);
} finally {
  await nats.close();
}
