// A generation: a group for as long as all its members are present. The first failure ends it on all ranks, because afterward no rank can
// know what the others have received.

import type { NatsConnection } from "@nats-io/nats-core";
import type { CollectiveRequest, Failure, Place } from "../requests.js";
import { Outcome } from "../requests.js";
import { bytesOf, elementsOf } from "./arrays.js";
import { type Peers, runCollective } from "./exchange.js";
import { Inbox } from "./inbox.js";
import { encodeMessage, type Message, type OperationKey } from "./message.js";
import type { RunNames } from "./names.js";
import type { Presence } from "./presence.js";
import { type GroupRecord, sourceOf } from "./record.js";
import type { Traffic } from "./traffic.js";
import { Window } from "./window.js";

// With 256 KiB each, far below what a server buffers for a connection before it closes it.
const kPiecesAtOnce = 8;
const kAdvice = "rejoin() forms the group again";

/** The parts that a generation is created from. */
export interface GenerationParts {
  readonly connection: NatsConnection;
  readonly names: RunNames;
  readonly presence: Presence;
  readonly traffic: Traffic;
  readonly timeout: number;
  /** Called with the failure that ends it. */
  onEnd(failure: Failure): void;
}

/** The group in one generation. */
export class Generation {
  readonly place: Place;
  /** The members by rank; null for one that had left before this process knew that the group is complete. */
  readonly #ids: readonly (string | null)[];
  readonly #inbox: Inbox;
  readonly #window = new Window(kPiecesAtOnce);
  readonly #running = new Map<Outcome, () => void>();
  readonly #left = new Set<number>();
  #failure: Failure | null = null;

  constructor(
    private readonly parts: GenerationParts,
    record: GroupRecord,
    id: string,
  ) {
    const { generation, size, members } = record;
    this.#ids = Array.from(
      { length: size },
      (_, rank) => members.find((member) => member.rank === rank)?.id ?? null,
    );
    for (const [rank, member] of this.#ids.entries()) if (member === null) this.#left.add(rank);
    this.place = {
      generation,
      rank: this.#ids.indexOf(id),
      worldSize: this.#ids.length,
      source: sourceOf(record),
    };
    this.#inbox = new Inbox((text) => this.fail(text));
  }

  /** Receives a message of this generation. */
  receive(message: Message): void {
    const { from } = message.key;
    if (from < this.#ids.length && from !== this.place.rank) this.#inbox.add(message);
  }

  /** Runs an operation; resolves when its result is in the memory of the request. */
  run(request: CollectiveRequest): Promise<void> {
    const outcome = new Outcome(request.outcome);
    if (this.#failure !== null) {
      outcome.settle(this.#failure);
      return Promise.resolve();
    }
    const { kind, dtype, reduction, root, data, where } = request;
    const length = data.byteLength / bytesOf(dtype);
    const operation = { kind, dtype, reduction, root, length };
    const late = () => {
      const who = this.#inbox.missing().join(", ");
      this.fail(`${where}() has waited for ${this.parts.timeout} ms for rank ${who || "others"}.`);
    };
    const settled = new Promise<void>((resolve) => {
      const timer = setTimeout(late, this.parts.timeout);
      this.#running.set(outcome, () => {
        clearTimeout(timer);
        resolve();
      });
    });
    const peers = this.#peers(request.sequence, operation);
    // After a failure, this promise never settles.
    void runCollective(request, operation, peers, this.#window).then(
      () => this.#settle(outcome, null),
      (error) => this.fail(`${where}() failed: ${error}`),
    );
    return settled;
  }

  /** Ends the group if a member is lost; a member that has left on purpose does not count. */
  checkPresence(): void {
    const { presence } = this.parts;
    const lost = this.#ids.findIndex((id, rank) => {
      const isMissed = id !== null && rank !== this.place.rank && !this.#left.has(rank);
      return isMissed && presence.isSilent(id);
    });
    if (lost !== -1) this.fail(`rank ${lost} is lost: it has given no sign of life.`);
  }

  /** Records that a member has left on purpose. */
  leave(id: string): void {
    const rank = this.#ids.indexOf(id);
    if (rank === -1) return;
    this.#left.add(rank);
    this.#checkLeft(rank);
  }

  /** Ends the group on all ranks. */
  fail(text: string): void {
    if (this.#failure !== null) return;
    const { generation, rank } = this.place;
    const { connection, names } = this.parts;
    if (!connection.isClosed()) {
      connection.publish(names.failed, JSON.stringify({ generation, rank, text }));
    }
    this.end(text);
  }

  /** Ends the group here. */
  end(text: string): void {
    if (this.#failure !== null) return;
    this.#failure = { code: "DeviceLost", text: `${text.replace(/\.$/, "")}; ${kAdvice}.` };
    for (const outcome of this.#running.keys()) this.#settle(outcome, this.#failure);
    this.parts.onEnd(this.#failure);
  }

  // Everything that a member sent before it left has arrived, so only operations that still need more from it fail.
  #checkLeft(rank: number): void {
    const isNeeded = this.#left.has(rank) && this.#inbox.missing().includes(rank);
    if (isNeeded) this.fail(`rank ${rank} has left the group`);
  }

  #settle(outcome: Outcome, failure: Failure | null): void {
    const end = this.#running.get(outcome);
    if (end === undefined) return;
    this.#running.delete(outcome);
    outcome.settle(failure);
    end();
  }

  #peers(sequence: number, operation: OperationKey): Peers {
    const { generation, rank } = this.place;
    const { connection, names, traffic } = this.parts;
    const { dtype } = operation;
    return {
      rank,
      worldSize: this.#ids.length,
      send: (to, piece, step, elements) => {
        const id = this.#ids[to] ?? null;
        if (id === null || this.#failure !== null || connection.isClosed()) return;
        const { buffer, byteOffset, byteLength } = elements;
        const payload = new Uint8Array(buffer, byteOffset, byteLength);
        const key = { generation, from: rank, sequence, piece, step };
        const message = encodeMessage(key, operation, payload);
        connection.publish(names.inboxOf(id), message);
        traffic.countSent(message.length);
      },
      receive: async (from, piece, step, length) => {
        const key = { generation, from, sequence, piece, step };
        const bytes = length * bytesOf(dtype);
        const taken = this.#inbox.take(key, operation, bytes);
        this.#checkLeft(from);
        return elementsOf(dtype, (await taken).buffer);
      },
    };
  }
}
