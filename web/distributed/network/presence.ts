// Who is there: every process says so several times in the time after which it would be taken to be lost.

import type { NatsConnection } from "@nats-io/nats-core";
import type { RunNames } from "./names.js";

const kSignsPerWait = 5;

/** The signs of life of a run's processes. */
export class Presence {
  readonly #heard = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #since = performance.now();

  constructor(
    private readonly connection: NatsConnection,
    private readonly names: RunNames,
    private readonly id: string,
    private readonly lostAfter: number,
    private readonly onTick: () => void,
  ) {
    connection.subscribe(names.alive, {
      callback: (error, message) => {
        if (error === null) this.hear(message.string());
      },
    });
    this.#say();
    this.#timer = setInterval(() => this.#tick(), lostAfter / kSignsPerWait);
  }

  /** Whether nothing has been heard of a process for too long. */
  isSilent(id: string): boolean {
    const last = this.#heard.get(id) ?? this.#since;
    return performance.now() - last > this.lostAfter;
  }

  /** Counts the time of every process from now on. */
  reset(): void {
    this.#heard.clear();
    this.#since = performance.now();
    this.#say();
  }

  /** Takes note of a process. */
  hear(id: string): void {
    this.#heard.set(id, performance.now());
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#say();
    this.onTick();
  }

  #say(): void {
    if (!this.connection.isClosed()) this.connection.publish(this.names.alive, this.id);
  }
}
