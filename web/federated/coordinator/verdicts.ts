// What has become of the updates of a round, for the clients that ask.

import { WakeSignal } from "../../nats/waiting.js";
import type { Verdict } from "../asks.js";

/** The verdicts of one round. */
export class Verdicts {
  readonly #found = new Map<string, { readonly digest: string; readonly verdict: Verdict }>();
  readonly #stored = new Map<string, string>();
  readonly #waiting = new Set<WakeSignal>();
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

  /** A client's file has been stored and will be read. */
  stored(client: string, digest: string): void {
    this.#stored.set(client, digest);
  }

  /** A client's file has been read. One that was counted stays so. */
  settle(client: string, digest: string, verdict: Verdict): void {
    if (this.#stored.get(client) === digest) this.#stored.delete(client);
    if (this.#found.get(client)?.verdict.state === "counted") return;
    this.#found.set(client, { digest, verdict });
    this.#wake();
  }

  /** Resolves to what has become of a client's file, or of its last one if the digest is "", when that is known or after some milliseconds. */
  async of(client: string, digest: string, ms: number): Promise<Verdict> {
    const end = performance.now() + ms;
    const signal = new WakeSignal();
    this.#waiting.add(signal);
    try {
      for (;;) {
        const verdict = this.#now(client, digest);
        const left = end - performance.now();
        if (verdict.state !== "wait" || left <= 0 || this.#isOver) return verdict;
        await signal.wait(left);
      }
    } finally {
      this.#waiting.delete(signal);
    }
  }

  #now(client: string, digest: string): Verdict {
    const found = this.#found.get(client);
    if (found?.verdict.state === "counted") return found.verdict;
    const stored = this.#stored.get(client);
    const isStored = stored !== undefined && (digest === "" || stored === digest);
    if (isStored || !this.#isReady) return { state: "wait" };
    if (found !== undefined && (digest === "" || found.digest === digest)) return found.verdict;
    return { state: "none" };
  }

  #wake(): void {
    for (const signal of this.#waiting) signal.wake();
  }
}
