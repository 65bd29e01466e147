// Counters of traffic, in memory that the program's thread reads.

import { kCounters } from "../requests.js";

/** The counters of a process. */
export class Traffic {
  readonly #counts: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Float64Array(memory);
  }

  countSent(bytes: number): void {
    this.#add("bytesSent", bytes);
    this.#add("messagesSent", 1);
  }

  countReceived(bytes: number): void {
    this.#add("bytesReceived", bytes);
  }

  #add(name: (typeof kCounters)[number], count: number): void {
    const i = kCounters.indexOf(name);
    this.#counts[i] = (this.#counts[i] as number) + count;
  }
}
