// Which clients are present: those that announced themselves recently. This is not stored: a new coordinator asks, and clients answer.

import { isName } from "../../nats/names.js";
import { WakeSignal } from "../../nats/waiting.js";
import { kGone, kPresenceMs, kSent } from "../presence_messages.js";
import type { Signals } from "../transport.js";

const kMissedTimes = 4;

/** The clients that are present. */
export class Presence {
  /** Woken when a client says that it has sent an update. */
  readonly sent = new WakeSignal();
  readonly #seen = new Map<string, number>();

  constructor(
    readonly signals: Signals,
    /** The maximum number of present clients. */
    readonly most: number,
    /** Woken when a client comes. */
    readonly wakeSignal: WakeSignal,
  ) {
    signals.onHere((client, said) => {
      if (said === kSent) this.sent.wake();
      this.#hear(client, said === kGone);
    });
  }

  /** Asks clients to announce themselves. */
  ask(): void {
    this.signals.ask();
  }

  /** The sorted names of the clients that are present. */
  get clients(): string[] {
    const oldest = performance.now() - kPresenceMs * kMissedTimes;
    for (const [client, time] of this.#seen) if (time < oldest) this.#seen.delete(client);
    return [...this.#seen.keys()].sort();
  }

  #hear(client: string, isGone: boolean): void {
    if (!isName(client)) return;
    const isNew = !this.#seen.has(client);
    if (isGone) this.#seen.delete(client);
    else if (!isNew || this.#seen.size < this.most) this.#seen.set(client, performance.now());
    if (isNew !== isGone) this.wakeSignal.wake();
  }
}
