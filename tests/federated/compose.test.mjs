// The files of examples/federated for containers: what can be checked without them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join as joinPaths } from "node:path";
import { test } from "node:test";
import { nkeys } from "@nats-io/nats-core";
import * as eg from "edgegrad";
import { parseAllDocuments } from "yaml";
import { startNats } from "../../examples/support/nats_server.mjs";
import { kRoot } from "../js/support/files.mjs";
import { join, serve } from "./support/members.mjs";
import { endOf, kNever } from "./support/runs.mjs";

const kFolder = joinPaths(kRoot, "examples", "federated");

test("the server's configuration and the module of the run let alice train", async () => {
  await eg.init();
  const [coordinator, alice] = [nkeys.createUser(), nkeys.createUser()];
  const seedOf = (pair) => new TextDecoder().decode(pair.getSeed());
  process.env.COORDINATOR = coordinator.getPublicKey();
  process.env.ALICE = alice.getPublicKey();
  const text = readFileSync(joinPaths(kFolder, "nats.conf"), "utf8");
  const nats = await startNats({ config: text.slice(text.indexOf("authorization")) });
  try {
    const { default: options } = await import("../../examples/federated/run.mjs");
    const running = await serve({
      ...options,
      servers: nats.url,
      credentials: { nkeySeed: seedOf(coordinator) },
      rounds: 1,
      deadline: kNever,
    });
    const client = await join({
      servers: nats.url,
      run: "digits",
      name: "alice",
      credentials: { nkeySeed: seedOf(alice) },
      coordinator: coordinator.getPublicKey(),
      model: options.model,
      train: async () => ({ samples: 1 }),
    });
    const { rounds } = await endOf(running, [client]);
    assert.deepEqual(rounds[0].clients, ["alice"]);
  } finally {
    await nats.close();
  }
});

test("the files for containers name files that are there, and the packages of the guide", () => {
  const [compose, kubernetes] = ["compose.yaml", "kubernetes.yaml"].map((name) =>
    readFileSync(joinPaths(kFolder, name), "utf8"),
  );
  const named = [
    ...compose.matchAll(/"\.\/([\w.]+):/g),
    ...kubernetes.matchAll(/--from-file=([\w.]+)/g),
  ];
  assert.equal(named.length, 4);
  const parsed = [compose, kubernetes].flatMap((text) => parseAllDocuments(text));
  for (const { errors } of parsed) assert.deepEqual(errors, []);
  for (const [, file] of named) {
    assert.ok(readFileSync(joinPaths(kFolder, file), "utf8").length > 0, file);
  }
  const guide = readFileSync(joinPaths(kRoot, "docs", "guide", "federated.md"), "utf8");
  const [, packages] = /npm install (@nats-io.*)/.exec(guide);
  for (const text of [compose, kubernetes]) assert.ok(text.includes(packages), packages);
});
