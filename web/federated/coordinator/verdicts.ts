// What has become of the updates of a round, for the clients that ask.

import { WakeSignal } from "../../nats/waiting.js";
import type { Verdict } from "../asks.js";

/** The verdicts of one round. */
export class Verdicts {
  readonly #found = new Map<string, { readonly file: string; readonly verdict: Verdict }>();
  readonly #stored = new Map<string, string>();
  /** Those that wait, by client: a round may have thousands. */
  readonly #waiting = new Map<string, Set<WakeSignal>>();
  #isReady = false;
  #isOver = false;

  /** All messages that were stored have been read. */
  ready(): void {
    this.#isReady = true;
    this.#wake();
  }

  /** The round is over: nobody waits any longer. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** A client's file is going to be stored, and then will be read; one that has been read already is only sent once more. */
  stored(client: string, file: string): void {
    if (this.#found.get(client)?.file !== file) this.#stored.set(client, file);
  }

  /** A client's file was not stored. */
  notStored(client: string, file: string): void {
    if (this.#stored.get(client) === file) this.#stored.delete(client);
  }

  /** A client's file has been read. One that was counted stays so. */
  settle(client: string, file: string, verdict: Verdict): void {
    if (this.#stored.get(client) === file) this.#stored.delete(client);
    if (this.#found.get(client)?.verdict.state === "counted") return;
    this.#found.set(client, { file, verdict });
    for (const signal of this.#waiting.get(client) ?? []) signal.wake();
  }

  /** Resolves to the verdict on a client's file (its last one if `file` is ""), as soon as it is known, at most after `ms`. */
  async of(client: string, file: string, ms: number): Promise<Verdict> {
    const end = performance.now() + ms;
    const signal = new WakeSignal();
    const waiting = this.#waiting.get(client) ?? new Set();
    this.#waiting.set(client, waiting.add(signal));
    try {
      for (;;) {
        const verdict = this.#now(client, file);
        const left = end - performance.now();
        if (verdict.state !== "wait" || left <= 0 || this.#isOver) return verdict;
        await signal.wait(left);
      }
    } finally {
      waiting.delete(signal);
      if (waiting.size === 0) this.#waiting.delete(client);
    }
  }

  #now(client: string, file: string): Verdict {
    const found = this.#found.get(client);
    if (found?.verdict.state === "counted") return found.verdict;
    const stored = this.#stored.get(client);
    const isStored = stored !== undefined && (file === "" || stored === file);
    if (isStored || !this.#isReady) return { state: "wait" };
    if (found !== undefined && (file === "" || found.file === file)) return found.verdict;
    return { state: "none" };
  }

  #wake(): void {
    for (const waiting of this.#waiting.values()) for (const signal of waiting) signal.wake();
  }
}
