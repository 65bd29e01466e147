// TLS with the guide's configuration and an authority of one's own.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPaths } from "node:path";
import { after, before, describe, test } from "node:test";
import { nkeys } from "@nats-io/nats-core";
import * as eg from "edgegrad";
import { FedAvg } from "edgegrad/federated";
import { startNats } from "../../examples/support/nats_server.mjs";
import { runNode } from "../js/support/child.mjs";
import { kRoot, readJson } from "../js/support/files.mjs";
import { join, serve } from "./support/members.mjs";
import { endOf, kNever } from "./support/runs.mjs";
import { makeModel, trainerOf } from "./support/task.mjs";

/** Makes a certificate for this machine that signs itself. */
function makeCertificate(folder, name) {
  const [cert, key] = [`${name}.pem`, `${name}-key.pem`].map((file) => joinPaths(folder, file));
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const files = ["-keyout", key, "-out", cert, "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
  return { cert, key };
}

/** The server's part of the guide's configuration, with the files of a certificate. */
function configuration({ cert, key }) {
  const guide = readFileSync(`${kRoot}docs/guide/federated.md`, "utf8");
  const [line] = /^tls \{.*\}$/m.exec(guide);
  return line.replace("server.pem", cert).replace("server-key.pem", key);
}

describe("with TLS", () => {
  let folder;
  let nats;
  let own;
  let other;
  before(async () => {
    await eg.init();
    folder = mkdtempSync(joinPaths(tmpdir(), "edgegrad-tls-"));
    own = makeCertificate(folder, "own");
    other = makeCertificate(folder, "other");
    nats = await startNats({ config: configuration(own) });
  });
  after(async () => {
    await nats?.close();
    rmSync(folder, { recursive: true });
  });

  const run = (caFile) => ({
    servers: nats.url.replace("nats:", "tls:"),
    run: "secret",
    model: makeModel,
    ...(caFile && { credentials: { tls: { caFile } } }),
  });

  test("a run goes through for those who know the authority", async () => {
    const options = { strategy: new FedAvg(), rounds: 2, minClients: 1, deadline: kNever };
    const coordinator = await serve({ ...run(own.cert), ...options });
    const client = await join({ ...run(own.cert), name: "alice", train: trainerOf(0) });
    const { rounds } = await endOf(coordinator, [client]);
    assert.equal(rounds.length, 2);
  });

  test("edgegrad-federated logs in with NATS_NKEY_SEED beside the authority of its module", async () => {
    const pair = nkeys.createUser();
    const users = `authorization { users = [{ nkey: ${pair.getPublicKey()} }] }`;
    const locked = await startNats({ config: `${configuration(own)}\n${users}` });
    const module = joinPaths(folder, "run.mjs");
    const options = new URL("support/run_options.mjs", import.meta.url).href;
    const credentials = JSON.stringify({ tls: { caFile: own.cert }, user: "nobody" });
    writeFileSync(
      module,
      `import options from ${JSON.stringify(options)};
       export default { ...options, credentials: ${credentials} };`,
    );
    const servers = locked.url.replace("nats:", "tls:");
    const nkeySeed = new TextDecoder().decode(pair.getSeed());
    try {
      const { bin } = readJson("package.json");
      const args = [bin["edgegrad-federated"], module, "--servers", servers];
      const program = runNode(args, { env: { ...process.env, NATS_NKEY_SEED: nkeySeed } });
      const client = await join({
        servers,
        credentials: { nkeySeed, tls: { caFile: own.cert } },
        run: "program",
        name: "alice",
        model: makeModel,
        train: trainerOf(0),
      });
      const { status, stderr } = await program;
      assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
      await client.leave();
    } finally {
      await locked.close();
    }
  });

  test("a server with a certificate that nobody has signed is refused", async () => {
    const expected = { code: "InvalidArgument", message: /^\[join\] cannot connect to tls:/ };
    await assert.rejects(join({ ...run(), train: trainerOf(0) }), expected);
    await assert.rejects(join({ ...run(other.cert), train: trainerOf(0) }), expected);
  });
});
