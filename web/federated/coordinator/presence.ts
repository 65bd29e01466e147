// Which clients are present: those that announced themselves recently, each with the session of one process. This is not stored: a new
// coordinator asks, and clients answer.

import { isName } from "../../nats/names.js";
import { WakeSignal } from "../../nats/waiting.js";
import { kGone, kPresenceMs } from "../presence_messages.js";
import type { Signals } from "../transport.js";
import { parseVersion } from "../version.js";
import type { AcceptedVersions } from "./accepted_versions.js";
import type { Quotas } from "./quotas.js";

const kMissedTimes = 4;
/** A client of whom nothing has been heard for so long is reported: it has missed a sign of life. Operators hear of it within five seconds. */
const kSilentMs = 1.75 * kPresenceMs;

interface Seen {
  readonly session: string;
  readonly version: string;
  readonly time: number;
}

/** The clients that are present. */
export class Presence {
  /** Woken when an update has been stored. */
  readonly sent = new WakeSignal();
  readonly #seen = new Map<string, Seen>();
  /** When clients were last asked; those who have been heard of since are in #seen. */
  #asked = performance.now();
  /** What is called when a process announces itself that was asked. */
  readonly #probed = new Map<string, () => void>();

  constructor(
    readonly signals: Signals,
    /** The maximum number of present clients. */
    readonly most: number,
    /** Woken when a client comes or leaves. */
    readonly wakeSignal: WakeSignal,
    /** Whether a client may take part. */
    private readonly isKnown: (client: string) => Promise<boolean>,
    private readonly versions: AcceptedVersions,
    private readonly quotas: Quotas,
  ) {
    signals.onHere((client, text) => void this.#hear(client, text));
  }

  /** Asks clients to announce themselves. */
  ask(): void {
    this.#asked = performance.now();
    this.signals.ask();
  }

  /** The sorted names of the clients that are present. */
  get clients(): string[] {
    for (const [client, seen] of this.#seen) if (!isRecent(seen)) this.#seen.delete(client);
    return [...this.#seen.keys()].sort();
  }

  /** How many of the clients that are present have each version; "" is that of those without one. */
  get versionCounts(): Record<string, number> {
    const counts = new Map<string, number>();
    for (const client of this.clients) {
      const { version = "" } = this.#seen.get(client) ?? {};
      counts.set(version, (counts.get(version) ?? 0) + 1);
    }
    return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the clients from which nothing has come for a while, though they may still be there. */
  silent(clients: readonly string[]): string[] {
    const before = performance.now() - kSilentMs;
    return clients.filter((client) => (this.#seen.get(client)?.time ?? this.#asked) < before);
  }

  /**
   * Takes a process for the one of its client; returns false if another process is there. That one is asked, and has to announce itself
   * soon: a process that was killed does not keep its name.
   */
  async admit(client: string, session: string, version: string): Promise<boolean> {
    // It becomes a part of a subject.
    if (!isName(session)) return false;
    const seen = this.#seen.get(client);
    if (seen !== undefined && seen.session !== session && isRecent(seen)) {
      if (await this.#isThere(client, seen.session)) return false;
      // Another process may have been faster.
      if (this.#seen.get(client)?.session !== seen.session) {
        return this.admit(client, session, version);
      }
      this.#seen.delete(client);
    }
    this.#keep(client, session, version);
    return true;
  }

  #isThere(client: string, session: string): Promise<boolean> {
    const key = `${client} ${session}`;
    const heard = new Promise<boolean>((resolve) => {
      this.#probed.set(key, () => resolve(true));
    });
    const known = this.signals.isThere(client, session);
    return Promise.race([heard, known]).finally(() => this.#probed.delete(key));
  }

  async #hear(client: string, text: string): Promise<void> {
    const [what = "", session = "", version = ""] = text.split(" ");
    if (!isName(client) || !isName(session) || this.quotas.ask(client) !== "yes") return;
    if (!this.versions.accepts(version) || !(await this.isKnown(client))) return;
    const seen = this.#seen.get(client);
    const isOther = seen !== undefined && seen.session !== session && isRecent(seen);
    if (isOther) return;
    if (what !== kGone) this.#probed.get(`${client} ${session}`)?.();
    if (what !== kGone) this.#keep(client, session, version);
    else if (this.#seen.delete(client)) this.wakeSignal.wake();
  }

  #keep(client: string, session: string, text: string): void {
    const isNew = !this.#seen.has(client);
    if (isNew && this.#seen.size >= this.most) return;
    const version = parseVersion(text) === null ? "" : text;
    this.#seen.set(client, { session, version, time: performance.now() });
    if (isNew) this.wakeSignal.wake();
  }
}

const isRecent = ({ time }: Seen) => performance.now() - time <= kPresenceMs * kMissedTimes;
