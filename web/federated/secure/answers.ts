// The coordinator's side of one attempt at a secure round: it collects the clients' answers to each step, and at the end knows the sum of
// their updates and nothing else. Its state follows from the record, its objects and the messages, so that it can be restored.

import { sha256 } from "../digest.js";
import { Assembly, type InboxLimits, type Message } from "../update/assembly.js";
import type { Reason } from "../update/decode.js";
import { agree, areEqual, materialOf, newKeyPair, openKeyOf } from "./agreement.js";
import { addMask, integersOfBytes } from "./masks.js";
import {
  decodeKeys,
  decodeShares,
  decodeUnmask,
  type OpenKeys,
  type Peers,
  type Shares,
  type SharesOf,
} from "./messages.js";
import { kPhaseHeader, kPhases, type Phase, phaseHeader } from "./phases.js";
import { ownPurpose, pairPurpose, type Session, signOf } from "./purposes.js";
import { combine, type Share } from "./sharing.js";

/** A step, with the results of the previous steps. */
export interface Step {
  readonly phase: Phase;
  /** The clients from which answers are expected. */
  readonly clients: readonly string[];
  readonly peers: Peers | null;
  readonly shares: readonly SharesOf[] | null;
}

/** An attempt that cannot be finished. */
export class Unreadable extends Error {
  constructor(
    message: string,
    /** The client at fault, if there is only one that it can be. */
    readonly client: string | null,
  ) {
    super(message);
  }
}

type Answer = OpenKeys | Shares | Uint32Array | readonly (Uint8Array | null)[];

/** Collects the clients' messages of an attempt. */
export class Answers {
  readonly #assembly: Assembly;
  readonly #refused = new Map<Reason, number>();
  readonly #sum: Uint32Array;
  readonly #summed = new Set<string>();
  #answers = new Map<string, Answer>();
  #isClosed = false;
  #bytes = 0;
  #readTo = 0;
  #step: Step;

  constructor(
    readonly session: Session,
    limits: InboxLimits,
    /** The number of integers in an update. */
    readonly integers: number,
    step: Step,
  ) {
    this.#assembly = new Assembly(session.round, limits);
    this.#sum = new Uint32Array(integers);
    this.#step = step;
  }

  /** The clients that have answered this step, in the order of their names. */
  get answered(): string[] {
    return [...this.#answers.keys()].sort();
  }

  /** Whether all clients have answered this step. */
  get isComplete(): boolean {
    const isDone = this.#answers.size >= this.#step.clients.length;
    // A coordinator that was started in the last step has to read the updates again.
    return isDone && (this.#step.phase !== "unmask" || this.#hasAllUpdates);
  }

  /** The number of refused messages by reason. */
  get refused(): Record<string, number> {
    return Object.fromEntries(this.#refused);
  }

  /** The bytes of the messages that count. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The sequence number of the last message. */
  get readTo(): number {
    return this.#readTo;
  }

  /** The keys that the clients have sent. */
  get keys(): { client: string; box: Uint8Array; mask: Uint8Array }[] {
    return this.answered.map((client) => ({
      client,
      ...(this.#answers.get(client) as OpenKeys),
    }));
  }

  /** The shares that the clients have sent. */
  get shares(): SharesOf[] {
    return this.answered.map((client) => ({ client, ...(this.#answers.get(client) as Shares) }));
  }

  get #hasAllUpdates(): boolean {
    return this.#step.clients.every((client) => this.#summed.has(client));
  }

  /** Accepts no more answers to this step. */
  close(): void {
    this.#isClosed = true;
  }

  /** Begins the next step. */
  go(step: Step): void {
    this.#step = step;
    this.#answers = new Map();
    this.#isClosed = false;
  }

  /** Takes the next message; returns why it was refused, or null. */
  async receive(message: Message): Promise<Reason | null> {
    this.#readTo = Math.max(this.#readTo, message.seq);
    const reason = await this.#take(message);
    if (reason !== null) this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
    return reason;
  }

  async #take(message: Message): Promise<Reason | null> {
    const { phase, clients } = this.#step;
    const { attempt } = this.session;
    const header = message.header(kPhaseHeader);
    const said = kPhases.find((phase) => phaseHeader(attempt, phase) === header);
    const isAgain = said === "masked" && phase === "unmask";
    const isOver = said !== undefined && kPhases.indexOf(said) < kPhases.indexOf(phase);
    const file = await this.#assembly.receive(message, (client) => {
      if (!clients.includes(client)) return isOver ? "late" : "unselected";
      if (said === undefined) return "message";
      if (isAgain) return this.#summed.has(client) ? "repeated" : null;
      // A message that was read before a restart is neither counted twice nor refused.
      if (isOver) return null;
      if (said !== phase || this.#isClosed) return "late";
      return this.#answers.has(client) ? "repeated" : null;
    });
    if (file === null || typeof file === "string") return file;
    const { client, bytes } = file;
    if (isOver && !isAgain) return null;
    const answer = await this.#read(said as Phase, client, bytes);
    if (answer === null) return said === "unmask" || said === "shares" ? "shares" : "format";
    if (this.#isClosed && !isAgain) return "late";
    if (answer instanceof Uint32Array) this.#add(client, answer);
    if (!isAgain) this.#answers.set(client, answer);
    this.#bytes += bytes.length;
    return null;
  }

  #add(client: string, integers: Uint32Array): void {
    this.#summed.add(client);
    for (const [i, integer] of integers.entries()) {
      this.#sum[i] = (this.#sum[i] as number) + integer;
    }
  }

  async #read(phase: Phase, client: string, bytes: Uint8Array): Promise<Answer | null> {
    switch (phase) {
      case "keys":
        return this.#readKeys(bytes);
      case "shares":
        return decodeShares(bytes, this.#peers.length);
      case "masked":
        return integersOfBytes(bytes, this.integers);
      case "unmask":
        return this.#readUnmask(client, bytes);
    }
  }

  /** Rejects an invalid key, which would make all other clients fail. */
  async #readKeys(bytes: Uint8Array): Promise<OpenKeys | null> {
    const keys = decodeKeys(bytes);
    if (keys === null) return null;
    const { secret } = await newKeyPair();
    const agreed = await Promise.all([agree(secret, keys.box), agree(secret, keys.mask)]);
    return agreed.includes(null) ? null : keys;
  }

  /** Rejects shares that are not those that the client was given. */
  async #readUnmask(client: string, bytes: Uint8Array): Promise<Answer | null> {
    const given = decodeUnmask(bytes, this.#shares.length);
    const place = this.#placeOf(client);
    if (given === null) return null;
    for (const [i, share] of given.entries()) {
      if (share === null) continue;
      const of = this.#shares[i] as SharesOf;
      const digests = this.#step.clients.includes(of.client) ? of.seeds : of.keys;
      if (!areEqual(await sha256(share), digests[place - 1] as Uint8Array)) return null;
    }
    return given;
  }

  /** Returns the sum of the updates of the last step's clients; throws Unreadable if the shares do not suffice. */
  async sum(): Promise<Uint32Array> {
    const sum = this.#sum.slice();
    const { clients } = this.#step;
    if (!this.#hasAllUpdates) throw new Unreadable("an update has been deleted", null);
    for (const [i, { client, commitment }] of this.#shares.entries()) {
      const secret = this.#secretOf(client, i);
      if (clients.includes(client)) {
        if (!areEqual(await sha256(secret), commitment)) throw wrongShares(client);
        await addMask(sum, await materialOf(secret), ownPurpose(this.session), -1);
        continue;
      }
      const { mask } = this.#peerOf(client);
      if (!areEqual(await openKeyOf(secret), mask)) throw wrongShares(client);
      for (const other of clients) {
        const material = await agree(secret, this.#peerOf(other).mask);
        if (material === null) throw wrongShares(other);
        // Removes the mask that the other client has added.
        await addMask(sum, material, pairPurpose(this.session), signOf(client, other));
      }
    }
    return sum;
  }

  #secretOf(client: string, index: number): Uint8Array {
    const threshold = this.#step.peers?.threshold ?? 0;
    if (this.#answers.size < threshold) {
      const found = `${this.#answers.size} clients have sent shares`;
      throw new Unreadable(`${found}, and ${threshold} are needed`, null);
    }
    const shares = this.answered.flatMap((owner): Share[] => {
      const bytes = (this.#answers.get(owner) as readonly (Uint8Array | null)[])[index];
      return bytes ? [{ place: this.#placeOf(owner), bytes }] : [];
    });
    if (shares.length < threshold) throw wrongShares(client);
    return combine(shares.slice(0, threshold));
  }

  get #peers(): Peers["peers"] {
    return this.#step.peers?.peers ?? [];
  }

  get #shares(): readonly SharesOf[] {
    return this.#step.shares ?? [];
  }

  #placeOf(client: string): number {
    return this.#peers.findIndex((peer) => peer.client === client) + 1;
  }

  #peerOf(client: string): Peers["peers"][number] {
    return this.#peers[this.#placeOf(client) - 1] as Peers["peers"][number];
  }
}

function wrongShares(client: string): Unreadable {
  return new Unreadable(`"${client}" has given wrong shares of its keys`, client);
}
