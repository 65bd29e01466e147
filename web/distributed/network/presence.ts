// Who is there: every process says so several times in the time after which it would be taken to be lost.

import type { NatsConnection } from "@nats-io/nats-core";
import type { RunNames } from "./names.js";

const kSignsPerWait = 5;

/**
 * The signs of life of a run's processes. Time is counted in ticks of this process's own timer: while it was kept from running, others
 * may have said something that it has not read yet.
 */
export class Presence {
  readonly #heard = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #ticks = 0;
  #since = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly names: RunNames,
    private readonly id: string,
    lostAfter: number,
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
    return this.#ticks - last > kSignsPerWait;
  }

  /** Counts the time of every process from now on. */
  reset(): void {
    this.#heard.clear();
    this.#since = this.#ticks;
    this.#say();
  }

  /** Takes note of a process. */
  hear(id: string): void {
    this.#heard.set(id, this.#ticks);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    this.#ticks++;
    this.#say();
    this.onTick();
  }

  #say(): void {
    if (!this.connection.isClosed()) this.connection.publish(this.names.alive, this.id);
  }
}
