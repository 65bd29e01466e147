// A nats-server of its own: on a free port, with its files in a temporary folder. It is installed if that is possible.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectSocket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePackages } from "../../scripts/apt.mjs";

const kStartMs = 10_000;
const kTryMs = 20;

/** Starts a server; `config` is more text of its configuration, with `files` beside it. */
export async function startNats({ config = "", files = {} } = {}) {
  await ensurePackages("federated");
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-nats-"));
  const [port, webSocketPort] = await Promise.all([freePort(), freePort()]);
  const text = `
    listen: "127.0.0.1:${port}"
    jetstream { store_dir: "${folder}" }
    websocket { listen: "127.0.0.1:${webSocketPort}", no_tls: true }
    ${config}`;
  writeFileSync(join(folder, "nats.conf"), text);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const server = new NatsServer(folder, port, webSocketPort);
  await server.start();
  return server;
}

class NatsServer {
  #child = null;

  constructor(folder, port, webSocketPort) {
    this.folder = folder;
    this.port = port;
    this.url = `nats://127.0.0.1:${port}`;
    this.webSocketUrl = `ws://127.0.0.1:${webSocketPort}`;
  }

  async start() {
    this.#child = spawn("nats-server", ["-c", join(this.folder, "nats.conf")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    // A program that fails must not leave it behind.
    process.once("exit", () => this.#child?.kill("SIGKILL"));
    let log = "";
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-4000);
    });
    const end = performance.now() + kStartMs;
    while (!(await answers(this.port))) {
      if (this.#child.exitCode !== null) throw new Error(`nats-server ended: ${log}`);
      if (performance.now() > end) throw new Error(`nats-server does not answer: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, kTryMs));
    }
  }

  /** The id of the process, while it runs. */
  get pid() {
    return this.#child?.pid;
  }

  /** Sends the process a signal, such as SIGSTOP. */
  signal(name) {
    this.#child.kill(name);
  }

  /** Ends the process at once, as a crash does; start() begins again with its files. */
  async kill() {
    if (this.#child === null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    this.#child = null;
  }

  /** Ends the process and deletes its files. */
  async close() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connectSocket(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
