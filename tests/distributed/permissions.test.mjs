// The configurations of docs/guide/distributed.md: a group forms and computes with them, and another run is out of reach.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import * as eg from "edgegrad";
import { allReduce, initProcessGroup } from "edgegrad/distributed";
import { startNats } from "../../examples/support/nats_server.mjs";
import { kRoot } from "../js/support/files.mjs";

await eg.init({ threads: 1 });

const kGuide = readFileSync(join(kRoot, "docs", "guide", "distributed.md"), "utf8");
const kConfigurations = [...kGuide.matchAll(/```text\njetstream \{.*\}\n([\s\S]*?)```/g)];
const servers = [];
after(() => Promise.all(servers.map((server) => server.close())));

async function start(index) {
  const server = await startNats({ config: kConfigurations[index][1] });
  servers.push(server);
  return server;
}

/** Two ranks of a run, of this process, that sum their tensors. */
async function sumOf(servers, run, credentials) {
  const options = { servers, run, credentials, worldSize: 2, joinTimeout: 20_000 };
  const groups = await Promise.all([0, 1].map(() => initProcessGroup(options)));
  try {
    const tensors = groups.map(({ rank }) => eg.tensor([1 + rank, 10]));
    await Promise.all(groups.map((group, i) => allReduce(tensors[i], { group })));
    return tensors.map((tensor) => tensor.arraySync());
  } finally {
    await Promise.all(groups.map((group) => group.destroy()));
  }
}

const kSums = [
  [3, 20],
  [3, 20],
];

describe("with the configuration of the guide", () => {
  test("ranks with the least permissions form a group, and no other", async () => {
    const { url } = await start(0);
    const credentials = { user: "ranks", password: "SECRET" };
    assert.deepEqual(await sumOf(url, "digits", credentials), kSums);
    // Again, with a bucket that exists.
    assert.deepEqual(await sumOf(url, "digits", credentials), kSums);
    await assert.rejects(sumOf(url, "letters", credentials), {
      code: "InvalidArgument",
      message: /\[initProcessGroup\] .*Permissions Violation/,
    });
    await assert.rejects(sumOf(url, "digits", undefined), /\[initProcessGroup\] cannot connect/);
  });

  test("each account has its own run, of the same name too", async () => {
    const { url } = await start(1);
    const digits = { user: "digits", password: "SECRET" };
    const letters = { user: "letters", password: "OTHER" };
    const sums = await Promise.all([sumOf(url, "same", digits), sumOf(url, "same", letters)]);
    assert.deepEqual(sums, [kSums, kSums]);
  });
});
