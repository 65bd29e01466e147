// A client's connection to a run in memory.

import type { Sheet } from "../asks.js";
import { TemporarilyUnavailable } from "../unavailable.js";
import { type MemoryRun, tell } from "./network.js";

/** A client's connection to a run. */
export class MemoryWire {
  readonly maxPayload = 2 ** 20;
  readonly #own: (() => void)[] = [];
  #isClosed = false;

  constructor(
    readonly run: MemoryRun,
    readonly name: string,
  ) {}

  /** Here, the coordinator sees which processes there are. */
  onProbe(session: string): void {
    const key = `${this.name} ${session}`;
    this.run.processes.add(key);
    this.#own.push(() => this.run.processes.delete(key));
  }

  async ask({ headers, data }: Sheet): Promise<Sheet> {
    // The sender may use its memory again.
    const sheet = { headers, data: data.slice() };
    const [answer] = this.run.answering;
    const answered = (await answer?.(this.name, sheet)) ?? null;
    if (answered === null) throw new TemporarilyUnavailable();
    return answered;
  }

  onRecord(changed: (sheet: Sheet) => void): void {
    this.run.changed.add(changed);
    this.#own.push(() => this.run.changed.delete(changed));
  }

  onWho(asked: () => void): void {
    this.run.who.add(asked);
    this.#own.push(() => this.run.who.delete(asked));
  }

  /** Nothing is forbidden here. */
  onForbidden(): void {}

  /** Nothing is lost here. */
  onBack(): void {}

  say(what: string): void {
    if (!this.#isClosed) tell(this.run.here, this.name, what);
  }

  async close(): Promise<void> {
    for (const off of this.#own) off();
    this.#isClosed = true;
  }
}
