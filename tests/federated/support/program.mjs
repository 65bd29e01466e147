// Programs in processes of their own, which write lines of JSON, and can be killed.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { soon } from "../../support/until.mjs";
import { leaveAtEnd } from "./leaving.mjs";

const running = new Set();
// A test that fails must not leave them behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A program that is started with a file's URL and an argument, which it gets as JSON; `heard` is called with each of its lines. */
export class Program {
  #child;
  #end = null;
  #lines = [];
  #waiting = [];

  constructor(url, argument, heard = () => {}) {
    const args = [fileURLToPath(url), JSON.stringify(argument)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    this.#child = child;
    running.add(child);
    leaveAtEnd(() => this.kill());
    createInterface(child.stdout).on("line", (line) => {
      const told = JSON.parse(line);
      this.#lines.push(told);
      heard(told);
      this.#wake();
    });
    child.once("close", (code, signal) => {
      running.delete(child);
      this.#end = { code, signal };
      this.#wake();
    });
  }

  /** Resolves to the first line that fits; rejects if the program ends without one. */
  async told(missing, fits) {
    for (;;) {
      const line = this.#lines.find(fits);
      if (line !== undefined) return line;
      if (this.#end !== null) throw new Error(`a program has ended without ${missing}`);
      await this.#change(missing);
    }
  }

  /** Resolves to the line that fits when the program has ended, or to null if it was killed; rejects if it has failed. */
  async result(fits) {
    while (this.#end === null) await this.#change("end of a program");
    const { code, signal } = this.#end;
    if (signal !== null) return null;
    if (code !== 0) throw new Error(`a program has ended with ${code}`);
    return this.#lines.find(fits) ?? null;
  }

  /** Sends the program a message. */
  tell(message) {
    // One that has ended is told of by result().
    this.#child.send(message, () => {});
  }

  /** Sends the process a signal, such as SIGSTOP. */
  signal(name) {
    this.#child.kill(name);
  }

  async kill() {
    this.#child.kill("SIGKILL");
    while (this.#end === null) await this.#change("end of a program that was killed");
  }

  /** Resolves at the next line, or the end: a program may take its time as long as it goes on. */
  #change(missing) {
    return soon(missing, new Promise((resolve) => this.#waiting.push(resolve)));
  }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
