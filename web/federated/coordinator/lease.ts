// Which coordinator leads: the one whose name is in the key `leader`, as long as it renews the key. Others watch the key's revision by
// their own clocks, which need not agree. The lease only avoids wasted work. A second leader is harmless for another reason: each leader
// begins with a write of the record, after which writes of the previous leader conflict.

import { isTransient } from "../../nats/failures.js";
import { sleep } from "../../nats/waiting.js";
import type { Store } from "../transport.js";

// The lease is renewed at least so often, and a server that takes longer to answer is reported: an operator hears of it within five seconds.
const kMostRenewalMs = 2000;
const kQuietMs = 2000;

/** What is told while a lease is kept. */
export interface LeaseListener {
  /** The server does not answer, or not with success. */
  failed(error: unknown): void;
  /** It does: called after each renewal. */
  works(): void;
}

/** The lease of one coordinator. */
export class Lease {
  #revision: number | null = null;

  constructor(
    readonly storage: Store,
    readonly holder: string,
    /** The milliseconds without renewal after which another coordinator takes over. */
    readonly ms: number,
  ) {}

  /** Waits until this coordinator holds the lease; calls `onStandby` with its name at each check while another one holds it. */
  async acquire(signal: AbortSignal, onStandby: (holder: string) => Promise<void>): Promise<void> {
    let seen: number | null = null;
    let since = performance.now();
    while (!signal.aborted) {
      const lease = await this.storage.readLease();
      if (lease === null || lease.value === this.holder) {
        if (await this.#write(lease?.revision ?? null)) return;
      } else if (lease.revision !== seen) {
        seen = lease.revision;
        since = performance.now();
      } else if (performance.now() - since > this.ms) {
        if (await this.#write(lease.revision)) return;
      }
      if (lease !== null) await onStandby(lease.value);
      await sleep(this.ms / 5, signal);
    }
  }

  /** Renews the lease until the signal is aborted; returns when another coordinator has it. */
  async keep(signal: AbortSignal, listener: LeaseListener): Promise<void> {
    const fail = (error: unknown) => {
      if (!signal.aborted) listener.failed(error);
    };
    while (!signal.aborted) {
      await sleep(Math.min(this.ms / 3, kMostRenewalMs), signal);
      if (signal.aborted) return;
      const message = `no answer for ${kQuietMs / 1000} s`;
      const quiet = setTimeout(() => fail(new Error(message)), kQuietMs);
      try {
        if (!(await this.#write(this.#revision))) return;
        listener.works();
      } catch (error) {
        // The write may have reached the server although its answer was lost.
        if (!isTransient(error)) throw error;
        fail(error);
        const lease = await this.storage.readLease().catch(() => null);
        if (lease?.value === this.holder) this.#revision = lease.revision;
      } finally {
        clearTimeout(quiet);
      }
    }
  }

  /** Releases the lease, so that another coordinator need not wait. */
  async release(): Promise<void> {
    if (this.#revision !== null) await this.storage.deleteLease(this.#revision);
    this.#revision = null;
  }

  async #write(revision: number | null): Promise<boolean> {
    const next = await this.storage.writeLease(this.holder, revision);
    if (next !== null) this.#revision = next;
    return next !== null;
  }
}
