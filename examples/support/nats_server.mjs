// A nats-server of its own: on a free port, with its files in a temporary folder. It is installed if that is possible.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePackages } from "../../scripts/machine/apt.mjs";

const kStartMs = 60_000;
const kTryMs = 5;
/** The server takes a port that is free. */
const kAnyPort = -1;

/** Starts a server; `config` and `jetstream` are more text of its configuration and of that of its storage, with `files` beside it. */
export async function startNats({ config = "", jetstream = "", files = {} } = {}) {
  await ensurePackages("federated");
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-nats-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const server = new NatsServer(folder, config, jetstream);
  await server.start();
  return server;
}

class NatsServer {
  #child = null;
  #config;
  #jetstream;
  #webSocketPort = kAnyPort;

  constructor(folder, config, jetstream) {
    this.folder = folder;
    this.port = kAnyPort;
    this.#config = config;
    this.#jetstream = jetstream;
    // A program that fails must not leave it behind.
    process.once("exit", () => this.#child?.kill("SIGKILL"));
  }

  get url() {
    return `nats://127.0.0.1:${this.port}`;
  }

  get webSocketUrl() {
    return `ws://127.0.0.1:${this.#webSocketPort}`;
  }

  /** Starts the process, after kill() with the same ports and files. */
  async start() {
    const file = join(this.folder, "nats.conf");
    const text = `
    listen: "127.0.0.1:${this.port}"
    jetstream { store_dir: "${this.folder}", ${this.#jetstream} }
    websocket { listen: "127.0.0.1:${this.#webSocketPort}", no_tls: true }
    ports_file_dir: "${this.folder}"
    ${this.#config}`;
    writeFileSync(file, text);
    this.#child = spawn("nats-server", ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-4000);
    });
    const end = performance.now() + kStartMs;
    for (;;) {
      const ports = this.#readPorts();
      if (ports !== null) {
        [this.port, this.#webSocketPort] = ports;
        return;
      }
      if (this.#child.exitCode !== null) throw new Error(`nats-server ended: ${log}`);
      if (performance.now() > end) throw new Error(`nats-server does not answer: ${log}`);
      await new Promise((resolve) => setTimeout(resolve, kTryMs));
    }
  }

  // The server writes them when it is ready; null until then.
  #readPorts() {
    try {
      const file = join(this.folder, `nats-server_${this.pid}.ports`);
      const { nats, websocket } = JSON.parse(readFileSync(file, "utf8"));
      return [nats, websocket].map(([url]) => Number(new URL(url).port));
    } catch {
      return null;
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
