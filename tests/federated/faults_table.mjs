// node tests/federated/faults_table.mjs [--only KIND] [--times 20]: faults of every kind in the middle of runs, as a table. The weights at the
// end must be, to the bit, those of a run without faults: an update that is lost or counted twice changes them. Of each fault it measures
// how long it takes until a coordinator tells of it, and until the next round ends. It takes about ten minutes; `npm run build` comes first.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises"; // timer: faults come at random moments
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { startNats } from "../../examples/support/nats_server.mjs";
import { until } from "../support/until.mjs";
import { fill } from "./support/full_server.mjs";
import { startClient, startCoordinator } from "./support/processes.mjs";
import { referenceWeights } from "./support/reference.mjs";

const kNames = ["client-a", "client-b", "client-c"];
const kSeed = 3;
/** A deadline that does not pass while anybody waits. */
const kNever = 600_000; // ms
/** What operators are promised. */
const kMostMs = 5000;

const text = { type: "string" };
const { values } = parseArgs({ options: { only: text, times: text } });

/** Coordinators and clients of one run, and what they have told. */
class Run {
  told = [];
  round = 0;
  coordinators = [];
  clients = [];

  constructor(nats, name, rounds) {
    this.nats = nats;
    this.rounds = rounds;
    this.options = {
      ...{ servers: nats.url, run: name, rounds, minClients: kNames.length },
      ...{ deadline: kNever, lease: 1000, seed: kSeed },
    };
  }

  async start() {
    for (const place of [0, 1]) {
      this.startCoordinator(place);
      await this.coordinators[place].isReady();
    }
    await Promise.all(kNames.map((_, client) => this.startClient(client)));
  }

  startCoordinator(place) {
    const began = performance.now();
    const heard = ({ event, message, round }) => {
      const at = performance.now();
      if (event !== undefined) this.told.push({ event, message, place, at });
      if (round !== undefined) this.round = Math.max(this.round, round);
    };
    this.coordinators[place] = Object.assign(startCoordinator(this.options, heard), { began });
  }

  startClient(client) {
    const { servers, run } = this.options;
    const name = kNames[client];
    this.clients[client] = startClient({ servers, run, client, name, pause: 20 });
    return this.clients[client].isReady();
  }

  /** The place of the coordinator that leads. */
  get leader() {
    return this.told.findLast(({ event }) => event === "leading").place;
  }

  /** Resolves to the milliseconds from `start` to the first of these events. */
  async tells(events, start) {
    const look = () => this.told.find(({ event, at }) => at >= start && events.includes(event));
    const { at } = await until(`event of ${events} in round ${this.round}`, look);
    return at - start;
  }

  /** Waits for the end of one more round, and for a random moment of the one that follows. */
  async goOn() {
    const { round } = this;
    await until(`end of round ${round + 1}`, () => this.round > round);
    await sleep(Math.random() * 150);
  }

  /** Waits for the end of the run, and checks what it has come to. */
  async check() {
    const ends = await Promise.all(this.coordinators.map((one) => one.result()));
    await Promise.all(this.clients.map((one) => one.ended()));
    for (const { history, weights } of ends) {
      const counted = history.rounds.map(({ round, clients }) => [round, clients]);
      const rounds = Array.from({ length: this.rounds }, (_, i) => [i + 1, kNames]);
      assert.deepEqual(counted, rounds);
      const expected = referenceWeights({
        clients: kNames.length,
        rounds: this.rounds,
        seed: kSeed,
      });
      assert.deepEqual(weights, expected);
    }
  }
}

const kAway = ["storeFailed"];

/** The kinds: how often, and a fault, which resolves to the milliseconds until it was told. */
const kKinds = {
  "coordinator killed": {
    times: 20,
    async fault(run) {
      const place = run.leader;
      const start = performance.now();
      await run.coordinators[place].kill();
      const ms = await run.tells(["leading"], start);
      run.startCoordinator(place);
      return ms;
    },
  },
  "client killed": {
    times: 20,
    async fault(run, i) {
      const client = i % kNames.length;
      const start = performance.now();
      await run.clients[client].kill();
      const ms = await run.tells(["stalled", "waiting"], start);
      await run.startClient(client);
      return ms;
    },
  },
  "server killed": {
    times: 20,
    async fault(run) {
      const start = performance.now();
      await run.nats.kill();
      await run.nats.start();
      return run.tells(kAway, start);
    },
  },
  "server away": {
    times: 10,
    async fault(run) {
      const start = performance.now();
      await run.nats.kill();
      const ms = await run.tells(kAway, start);
      await run.nats.start();
      return ms;
    },
  },
  "server full": {
    times: 5,
    async fault(run) {
      const start = performance.now();
      const makeRoom = await fill(run.nats);
      const full = performance.now();
      const ms = await run.tells(kAway, start);
      await makeRoom();
      return Math.max(0, ms - (full - start));
    },
  },
  "server paused": {
    times: 5,
    async fault(run) {
      const start = performance.now();
      run.nats.signal("SIGSTOP");
      const ms = await run.tells(kAway, start);
      run.nats.signal("SIGCONT");
      return ms;
    },
  },
  "coordinator paused": {
    times: 5,
    async fault(run) {
      const place = run.leader;
      const start = performance.now();
      run.coordinators[place].signal("SIGSTOP");
      const ms = await run.tells(["leading"], start);
      run.coordinators[place].signal("SIGCONT");
      return ms;
    },
  },
  "client paused": {
    times: 5,
    async fault(run, i) {
      const start = performance.now();
      run.clients[i % kNames.length].signal("SIGSTOP");
      const ms = await run.tells(["stalled", "waiting"], start);
      run.clients[i % kNames.length].signal("SIGCONT");
      return ms;
    },
  },
};

const most = (numbers) => (Math.max(...numbers) / 1000).toFixed(1);

async function measure(kind, { times: usual, fault }) {
  const times = Number(values.times ?? usual);
  const nats = await startNats({ jetstream: "max_file_store: 8M" });
  try {
    // One to wait for after each fault, one that is on its way, and some for what is done meanwhile.
    const run = new Run(nats, `table-${kind.replaceAll(" ", "-")}`, 4 * times + 4);
    await run.start();
    const [told, recovered] = [[], []];
    for (let i = 0; i < times; i++) {
      await run.goOn();
      told.push(await fault(run, i));
      const start = performance.now();
      await run.goOn();
      recovered.push(performance.now() - start);
    }
    await run.check();
    const slow = told.filter((ms) => ms > kMostMs).length;
    return [kind, times, run.rounds, "0", most(told), slow, most(recovered)];
  } finally {
    await nats.close();
  }
}

await eg.init();
const header = ["fault", "times", "rounds", "lost or twice", "told after s", "later than 5 s"];
const lines = [[...header, "next round after s"]];
lines.push(lines[0].map((_, i) => (i === 0 ? "---" : "---:")));
for (const [kind, how] of Object.entries(kKinds)) {
  if (values.only !== undefined && values.only !== kind) continue;
  lines.push(await measure(kind, how));
  console.error(lines.at(-1).join("  "));
}
for (const line of lines) console.log(`| ${line.join(" | ")} |`);
process.exit(0);
