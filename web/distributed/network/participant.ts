// A process of a run: its connection and the current generation of its group.

import type { KV } from "@nats-io/kv";
import type { Msg, NatsConnection } from "@nats-io/nats-core";
import { fail } from "../../errors/errors.js";
import { openOrCreate } from "../../nats/buckets.js";
import { connectTo } from "../../nats/connection.js";
import { loadClientPackages, loadKeyValue } from "../../nats/packages.js";
import { WakeSignal } from "../../nats/waiting.js";
import type { CollectiveRequest, Failure, Place, WorkerOptions } from "../requests.js";
import { Outcome } from "../requests.js";
import { kPieceBytes } from "./exchange.js";
import { Generation } from "./generation.js";
import { decodeMessage, kHeaderBytes, type Message } from "./message.js";
import { namesOf, type RunNames } from "./names.js";
import { Presence } from "./presence.js";
import { depart, meet, readRecord } from "./rendezvous.js";
import { Traffic } from "./traffic.js";

// The limit on messages of a generation that this process does not know yet: others may learn earlier that the group is complete.
const kMostEarly = 1000;

/** A process of a run. */
export class Participant {
  readonly #presence: Presence;
  readonly #traffic: Traffic;
  readonly #wakeSignal = new WakeSignal();
  #generation: Generation | null = null;
  #past: Place | null = null;
  #early: Message[] = [];

  private constructor(
    private readonly options: WorkerOptions,
    private readonly connection: NatsConnection,
    private readonly kv: KV,
    private readonly names: RunNames,
    private readonly id: string,
    private readonly onLost: (failure: Failure) => void,
  ) {
    this.#traffic = new Traffic(options.counters);
    const { lostAfter } = options;
    this.#presence = new Presence(connection, names, id, lostAfter, () => {
      this.#generation?.checkPresence();
    });
    this.#listen(names.inboxOf(id), (message) => this.#receive(message));
    this.#listen(names.failed, (message) => this.#hearFailed(message));
    this.#listen(names.changed, (message) => void this.#hearChanged(message));
    void this.#watchConnection();
  }

  /** Connects to the servers of a run. */
  static async open(
    where: string,
    options: WorkerOptions,
    onLost: (failure: Failure) => void,
  ): Promise<Participant> {
    const id = globalThis.crypto.randomUUID();
    const names = namesOf(options.run);
    const name = `rank_${id.slice(0, 8)}`;
    const connection = await connectTo(where, options.connection, name, names.replies);
    try {
      const most = connection.info?.max_payload ?? 0;
      const needed = kPieceBytes + kHeaderBytes;
      if (most < needed) {
        const advice = "Set max_payload in its configuration.";
        fail(
          "InvalidArgument",
          where,
          `the server takes messages of ${most} bytes; expected ${needed}. ${advice}`,
        );
      }
      const { jetstream } = await loadClientPackages(where);
      const { Kvm } = await loadKeyValue(where);
      const js = jetstream.jetstream(connection);
      const bucket = { history: 1, allow_direct: true };
      const kv = await openOrCreate(() => new Kvm(js).create(names.bucket, bucket));
      return new Participant(options, connection, kv, names, id, onLost);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Joins a group, or the next one after a failure. */
  async join(where: string): Promise<Place> {
    this.#end("this process has asked for a new group");
    this.#presence.reset();
    await this.connection.flush();
    const { rank, worldSize, minWorldSize, lastCall, joinTimeout, timeout } = this.options;
    const { kv, connection, names } = this;
    const [presence, traffic] = [this.#presence, this.#traffic];
    const self = {
      id: this.id,
      rank,
      past: this.#past?.generation ?? 0,
      pastRank: this.#past?.rank ?? null,
    };
    const meeting = {
      kv,
      sizes: { worldSize, minWorldSize },
      lastCall,
      wakeSignal: this.#wakeSignal,
      isSilent: (id: string) => id !== this.id && presence.isSilent(id),
      tellChanged: () => connection.publish(names.changed, this.id),
    };
    const record = await meet(where, meeting, self, joinTimeout);
    presence.reset();
    const parts = { connection, names, presence, traffic, timeout, onEnd: this.onLost };
    const generation = new Generation(parts, record, this.id);
    this.#generation = generation;
    this.#past = generation.place;
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.#deliver(message);
    return generation.place;
  }

  /** Runs an operation; resolves when its result is in the memory of the request. */
  run(request: CollectiveRequest): Promise<void> {
    if (this.#generation !== null) return this.#generation.run(request);
    const text = "this process does not belong to a group.";
    new Outcome(request.outcome).settle({ code: "InvalidArgument", text });
    return Promise.resolve();
  }

  /** Ends the group on all ranks. */
  abort(reason: string): void {
    this.#generation?.fail(reason);
  }

  /** Leaves the group, and ends the connection. */
  async leave(): Promise<void> {
    this.#presence.close();
    try {
      await depart(this.kv, this.id);
      this.connection.publish(this.names.changed, this.id);
      this.connection.publish(this.names.failed, JSON.stringify({ left: this.id }));
      await this.connection.drain();
    } catch {
      // The server is gone, so the others cannot be told.
      await this.connection.close();
    }
  }

  #end(text: string): void {
    this.#generation?.end(text);
    this.#generation = null;
  }

  #listen(subject: string, heard: (message: Msg) => void): void {
    this.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) heard(message);
      },
    });
  }

  #receive({ data }: Msg): void {
    this.#traffic.countReceived(data.length);
    const message = decodeMessage(data);
    if (message !== null) this.#deliver(message);
  }

  #deliver(message: Message): void {
    const current = this.#generation?.place.generation ?? 0;
    if (message.key.generation === current) this.#generation?.receive(message);
    else if (message.key.generation > (this.#past?.generation ?? 0)) this.#keep(message);
  }

  #keep(message: Message): void {
    if (this.#early.length < kMostEarly) this.#early.push(message);
  }

  #hearFailed(message: Msg): void {
    const { generation, rank, text, left } = recordOf(message);
    if (typeof left === "string") this.#generation?.leave(left);
    if (generation !== this.#generation?.place.generation || rank === this.#past?.rank) return;
    this.#generation?.end(`rank ${rank} has given up: ${text}`);
  }

  // Another process has begun to form the next group.
  async #hearChanged(message: Msg): Promise<void> {
    this.#wakeSignal.wake();
    const generation = this.#generation;
    if (generation === null || message.string() === this.id) return;
    const newest = await readRecord(this.kv).catch(() => null);
    if ((newest?.record?.generation ?? 0) > generation.place.generation) {
      generation.end("the group is being formed again");
    }
  }

  async #watchConnection(): Promise<void> {
    for await (const status of this.connection.status()) {
      // Messages to this process were lost while it was disconnected.
      if (status.type === "reconnect") {
        this.#generation?.fail("the connection to the server was interrupted");
      }
    }
  }
}

function recordOf(message: Msg): Record<string, unknown> {
  try {
    return Object(message.json()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
