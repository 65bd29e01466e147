// The record as a coordinator knows it: each write is signed and sent to the clients, and time is counted from it by this machine's clock.

import { fail } from "../../errors/errors.js";
import { answerWith, kRevisionHeader, kSignatureHeader, type Sheet } from "../asks.js";
import { digestOf } from "../digest.js";
import type { Revised } from "../nats/storage.js";
import type { RunRecord } from "../record.js";
import { type Sign, textOfRecord } from "../signatures.js";
import type { Signals, Store } from "../transport.js";

/** The record of a run. */
export class RunState {
  #sheet: Sheet = answerWith("none");
  /** When the round was opened and when its deadline is, by performance.now(). */
  #opened = 0;
  #deadline = 0;

  constructor(
    private readonly run: string,
    private readonly storage: Store,
    private readonly signals: Signals,
    /** Signs the record; null if the coordinator has no key. */
    private readonly sign: Sign | null,
    public current: Revised<RunRecord>,
  ) {}

  get value(): RunRecord {
    return this.current.value;
  }

  /** The answer with the record for clients. */
  get sheet(): Sheet {
    return this.#sheet;
  }

  /** The milliseconds until the deadline. */
  get left(): number {
    return this.#deadline - performance.now();
  }

  /** The milliseconds since the round was opened. */
  get spent(): number {
    return Math.round(performance.now() - this.#opened);
  }

  /** Sends the record to all clients that listen. */
  announce(): void {
    this.signals.announce(this.#sheet);
  }

  /** Replaces the record by one that opens a round. */
  open(record: RunRecord): Promise<void> {
    this.#opened = performance.now();
    return this.write(record);
  }

  /** Replaces the record, signs it, and sends it to all clients. */
  async write(record: RunRecord): Promise<void> {
    await this.#replace(record);
    this.announce();
  }

  /** Takes over the run: from now on, writes of the coordinator before conflict. Clients are not told yet. */
  async take(change: (record: RunRecord) => RunRecord): Promise<void> {
    const { storage } = this;
    const record = (await storage.readRecord()) ?? (await this.#restore());
    const { value } = record;
    // Both times are the server's: this machine's clock need not agree with that of the coordinator before.
    const now = (await storage.readLease())?.time ?? record.time;
    const elapsed = value.state === "open" ? Math.max(0, now - record.time) : 0;
    this.#opened = performance.now() - value.spent - elapsed;
    this.current = record;
    await this.#replace(change({ ...value, deadline: Math.max(0, value.deadline - elapsed) }));
  }

  /** Writes the record again that this coordinator knows: a server without room may have lost it. */
  async #restore(): Promise<Revised<RunRecord>> {
    await this.storage.createRecord(this.value);
    const record = await this.storage.readRecord();
    return record ?? fail("DeviceLost", "serve", "the server does not keep the record of the run.");
  }

  async #replace(record: RunRecord): Promise<void> {
    const value = { ...record, spent: record.state === "open" ? this.spent : 0 };
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    // Before the write: after it, clients may answer at once.
    const digest = await digestOf(bytes);
    const revision = await this.storage.writeRecord(value, this.current.revision);
    this.current = { value, revision, time: 0 };
    this.#deadline = performance.now() + value.deadline;
    const text = textOfRecord(this.run, `${revision}`, digest);
    const headers = {
      [kRevisionHeader]: `${revision}`,
      ...(this.sign && { [kSignatureHeader]: this.sign(text) }),
    };
    this.#sheet = answerWith("ok", headers, bytes);
  }
}
