// The program of docs/guide/distributed.md that goes on when a process is lost: as it is there, with ranks that are killed.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startNats } from "../../examples/support/nats_server.mjs";
import { Program } from "../federated/support/program.mjs";
import { kRoot } from "../js/support/files.mjs";

const kSteps = 300;
const kKills = 4;

let nats;
let folder;
before(async () => {
  nats = await startNats();
  mkdirSync(join(kRoot, "build"), { recursive: true });
  folder = mkdtempSync(join(kRoot, "build", "recovery-"));
});
after(async () => {
  await nats?.close();
  rmSync(folder, { recursive: true });
});

/** Writes the guide's program: for this server and fewer steps, and with a line for each step and at the end. */
function writeProgram() {
  const guide = readFileSync(join(kRoot, "docs", "guide", "distributed.md"), "utf8");
  const code = [...guide.matchAll(/```js page\n([\s\S]*?)```/g)].map(([, text]) => text);
  const program = code.find((text) => text.includes("rejoin"));
  const changes = [
    ["'nats://127.0.0.1:4222'", JSON.stringify(nats.url)],
    ["run: 'elastic'", "run: 'elastic', lostAfter: 1500"],
    ["const model =", "tell({ rank: group.rank });\nconst model ="],
    ["step < 1000", `step < ${kSteps}`],
    [
      "step++;",
      "step++; tell({ step }); await new Promise((next) => setTimeout(next, 5)); // timer: work",
    ],
    [
      "await group.destroy();",
      "tell({ weights: [...model.module.weight.dataSync()], step });\nawait group.destroy();",
    ],
  ];
  const head = 'const tell = (value) => process.stdout.write(JSON.stringify(value) + "\\n");\n';
  const changed = changes.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), `the guide's program has ${from}`);
    return text.replace(from, to);
  }, program);
  const file = join(folder, "program.mjs");
  writeFileSync(file, changed.replace("\n\n", `\n\n${head}`));
  return pathToFileURL(file);
}

describe("the guide's program for processes that are lost", () => {
  test(`goes on when ranks are killed, ${kKills} times`, async () => {
    const file = writeProgram();
    const start = () => new Program(file, {});
    const ranks = [start(), start()];
    for (let kill = 1; kill <= kKills; kill++) {
      const victim = kill % 2;
      const least = 40 * kill;
      await Promise.all(
        ranks.map((rank) => rank.told(`step ${least}`, ({ step }) => step >= least)),
      );
      await ranks[victim].kill();
      ranks[victim] = start();
      if (kill % 2 === 1) continue;
      // The next one is lost while the others give it the state.
      await ranks[victim].told("rank of the new process", ({ rank }) => rank !== undefined);
      await ranks[victim].kill();
      ranks[victim] = start();
    }
    const ends = await Promise.all(
      ranks.map((rank) => rank.result(({ weights }) => weights !== undefined)),
    );
    for (const { step, weights } of ends) {
      assert.equal(step, kSteps);
      assert.deepEqual(weights, ends[0].weights);
    }
  });
});
