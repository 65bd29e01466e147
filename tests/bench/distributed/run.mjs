// node tests/bench/distributed/run.mjs [--rounds 3] [--batch 64,256]: two ranks against one process on the CNN, in turn. Prints images per
// second, milliseconds and bytes per step.

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
async function ranks(servers, worldSize, batch, threads = 1) {
  const options = { servers, run: `bench${runs++}`, worldSize, batch, threads, blocks: kBlocks };
  const all = await Promise.all(Array.from({ length: worldSize }, () => child(options)));
  // The slower one counts: they wait for each other.
  return all.reduce((a, b) => (a.ms > b.ms ? a : b));
}

const row = (name, { images, ms, bytes, messages }) =>
  console.log(
    `  ${name.padEnd(46)}${images.toFixed(0).padStart(8)} images/s${ms.toFixed(2).padStart(8)} ms` +
      `${bytes.toFixed(0).padStart(8)} bytes${messages.toFixed(0).padStart(3)} messages per step and rank`,
  );

const nats = await startNats();
try {
  console.log(`${availableParallelism()} cores, load ${load()}`);
  for (const batch of values.batch.split(",").map(Number)) {
    const cases = {
      "one process, one thread": () => ranks(nats.url, 1, batch),
      "one process, two threads": () => ranks(nats.url, 1, batch, 2),
      "two ranks, half of the batch each": () => ranks(nats.url, 2, batch / 2),
      "two ranks, a batch each": () => ranks(nats.url, 2, batch),
    };
    const images = [batch, batch, batch, 2 * batch];
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
    for (const [i, how] of [
      [2, "half of the batch"],
      [3, "a batch each"],
    ]) {
      const ratios = rates[i].map((rate, round) => rate / rates[0][round]);
      const text = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
      console.log(`  two ranks (${how}) / one thread: ${median(ratios).toFixed(2)} (${text})`);
    }
  }
  console.log(`load ${load()}`);
} finally {
  await nats.close();
}
