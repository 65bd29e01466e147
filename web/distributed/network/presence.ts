// Which processes are alive: each announces itself several times within the time after which it would be considered lost.

import type { NatsConnection } from "@nats-io/nats-core";
import type { RunNames } from "./names.js";

const kSignsPerWait = 5;

/**
 * Tracks the signs of life of a run's processes. Time is counted in ticks of this process's own timer: if the process was blocked, there
 * may be messages that it has not read yet.
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

  /** Whether a process has been silent for too long. */
  isSilent(id: string): boolean {
    const last = this.#heard.get(id) ?? this.#since;
    return this.#ticks - last > kSignsPerWait;
  }

  /** Restarts the time of all processes. */
  reset(): void {
    this.#heard.clear();
    this.#since = this.#ticks;
    this.#say();
  }

  /** Records a sign of life. */
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
