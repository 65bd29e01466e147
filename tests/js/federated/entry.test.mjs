// The entry without a server and without its peers.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-peers-"));
after(() => rmSync(folder, { recursive: true }));

test("without the packages of NATS, serve() says what to install, and the rest works", async () => {
  const target = join(folder, "node_modules", "edgegrad");
  await cp(join(kRoot, "dist"), join(target, "dist"), {
    recursive: true,
    // Node needs none of the engine's parts.
    filter: (path) => !/dist.(?:onnx|single)\b|\.\w+\.wasm$/.test(path),
  });
  await cp(join(kRoot, "package.json"), join(target, "package.json"));
  const program = `
    import { init, nn } from "edgegrad";
    import { FedAvg, RdpAccountant, serve } from "edgegrad/federated";
    await init();
    new RdpAccountant().step({ noiseMultiplier: 1 });
    await serve({
      servers: "nats://127.0.0.1:1", run: "a", model: () => new nn.Linear(1, 1), strategy: new FedAvg(),
      rounds: 1, minClients: 1, deadline: 1000,
    }).catch(({ code, message }) => console.log(code, message));`;
  const { stdout, stderr } = await runProgram(program, { cwd: folder });
  assert.equal(stderr, "");
  assert.match(stdout, /^InvalidArgument \[serve\] a package of NATS cannot be imported/);
  assert.match(stdout, /npm install @nats-io\/nats-core @nats-io\/jetstream @nats-io\/kv/);
});
