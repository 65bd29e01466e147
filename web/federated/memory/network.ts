// Runs in the memory of one page or process, where coordinators and clients communicate without a server.

import type { Sheet } from "../asks.js";
import type { Message } from "../update/assembly.js";

/** A value with its revision; a write must name the revision that was read. */
export interface Entry {
  readonly text: string;
  readonly revision: number;
  /** When it was written, in milliseconds. */
  readonly time: number;
}

/** A set of callbacks. */
type Listeners<Heard extends unknown[]> = Set<(...heard: Heard) => void>;

/** What a NATS server would store of a run. */
export class MemoryRun {
  readonly entries = new Map<string, Entry>();
  readonly objects = new Map<string, { readonly bytes: Uint8Array; readonly seq: number }>();
  readonly changed: Listeners<[sheet: Sheet]> = new Set();
  readonly who: Listeners<[]> = new Set();
  readonly here: Listeners<[client: string, said: string]> = new Set();
  /** The coordinator that leads answers clients. */
  readonly answering = new Set<(client: string, sheet: Sheet) => Promise<Sheet | null>>();
  /** The processes that are there, by client and session. */
  readonly processes = new Set<string>();
  /** The ids of the messages that are stored or were. */
  readonly ids = new Set<string>();
  /** The stored updates, in order. */
  updates: Message[] = [];
  /** The maximum number of stored messages per client. */
  mostMessages = Number.POSITIVE_INFINITY;
  /** The sequence number of the last write of any kind. */
  seq = 0;

  /** A coordinator's signals. */
  signals() {
    const own = new Set<(client: string, text: string) => void>();
    return {
      maxPayload: 2 ** 20,
      onHere: (heard: (client: string, text: string) => void) => {
        own.add(heard);
        this.here.add(heard);
      },
      ask: () => tell(this.who),
      answer: (make: (client: string, sheet: Sheet) => Promise<Sheet | null>) => {
        this.answering.add(make);
        return () => this.answering.delete(make);
      },
      isThere: async (client: string, session: string) =>
        this.processes.has(`${client} ${session}`),
      announce: (sheet: Sheet) => tell(this.changed, sheet),
      /** Nothing is lost here. */
      onLost: () => {},
      close: async () => {
        for (const subject of own) this.here.delete(subject);
      },
    };
  }
}

/** Calls all listeners in a microtask. */
export function tell<Heard extends unknown[]>(listeners: Listeners<Heard>, ...heard: Heard): void {
  queueMicrotask(() => {
    for (const listener of [...listeners]) listener(...heard);
  });
}

/**
 * Replaces NATS servers, for a coordinator and clients in one page or process: pass a MemoryNetwork as `servers` to serve() and join().
 * Its contents are lost when the page closes.
 */
export class MemoryNetwork {
  readonly #runs = new Map<string, MemoryRun>();

  /** @internal */
  runOf(name: string): MemoryRun {
    const run = this.#runs.get(name) ?? new MemoryRun();
    this.#runs.set(name, run);
    return run;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
