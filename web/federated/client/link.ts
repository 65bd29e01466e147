// The requests and messages of a client to the coordinator that leads.

import { fail } from "../../errors/errors.js";
import { isTransient } from "../../nats/failures.js";
import {
  type Ask,
  askFor,
  headerOf,
  kObjectHeader,
  kOffsetHeader,
  kRevisionHeader,
  kSessionHeader,
  kSignatureHeader,
  kVersionHeader,
  type Sheet,
  type Status,
  statusOf,
  type Verdict,
} from "../asks.js";
import { digestOf } from "../digest.js";
import type { RunNames } from "../names.js";
import { type kGone, kHere } from "../presence_messages.js";
import { parseRecord, type RunRecord } from "../record.js";
import { type Check, type Sign, textOfRecord, textOfUpdate } from "../signatures.js";
import type { StoredObject } from "../stored_object.js";
import type { Wire } from "../transport.js";
import { TemporarilyUnavailable } from "../unavailable.js";
import {
  type FileName,
  kDigestHeader,
  kIdHeader,
  kRoundHeader,
  kTryHeader,
  type Part,
} from "../update/encode.js";

const kWhere = "join";

/** How a client signs, and what it checks. */
export interface LinkKeys {
  readonly sign: Sign | null;
  /** The public key of the coordinator, and the function that checks its signatures; null to check none. */
  readonly coordinator: { readonly key: string; readonly check: Check } | null;
}

/** A client's connection to a run. */
export class Link {
  /** A number of this process: two that use one name are told apart by it. */
  readonly session = globalThis.crypto.randomUUID().replaceAll("-", "");
  #revision = 0;
  #id: string | null = null;
  #newest: RunRecord | null = null;

  constructor(
    readonly wire: Wire,
    readonly names: RunNames,
    readonly name: string,
    /** The version of the client; "" if it has none. */
    private readonly version: string,
    private readonly keys: LinkKeys,
  ) {
    wire.onProbe(this.session, () => this.say(kHere));
  }

  get maxPayload(): number {
    return this.wire.maxPayload;
  }

  /** The newest record that was read or announced; null if there was none. */
  get newest(): RunRecord | null {
    return this.#newest;
  }

  /** Asks to take part; throws InvalidArgument if another process does under this name. Without a coordinator, nothing happens. */
  async join(): Promise<void> {
    await this.#tryToAsk("join");
  }

  /** Returns the record; null if the run has not begun, or no coordinator leads. Throws InvalidArgument for one that is not signed. */
  async readRecord(): Promise<RunRecord | null> {
    const answer = await this.#tryToAsk("record");
    if (answer === null || statusOf(answer) !== "ok") return null;
    const record = await this.#recordIn(answer);
    if (record !== "unsigned") return record;
    const message = `the record of run "${this.names.run}" is not signed by the key \`coordinator\``;
    return fail("InvalidArgument", kWhere, `${message}. Check that key, and who may do what.`);
  }

  /** Calls a function when a coordinator has changed the record, with the record if it is at hand. */
  onRecord(changed: (record: RunRecord | null) => void): void {
    this.wire.onRecord((sheet) => {
      if (sheet.data.length === 0) return changed(null);
      // Anything that is not a record of this run is not heard.
      void this.#recordIn(sheet).then(
        (record) => record !== null && record !== "unsigned" && changed(record),
        () => changed(null),
      );
    });
  }

  /** Announces that this client is present or leaves. */
  say(what: typeof kHere | typeof kGone): void {
    this.wire.say(`${what} ${this.session} ${this.version}`.trimEnd());
  }

  /** Returns the bytes of an object; throws TemporarilyUnavailable. */
  async readObject({ name, size, digest }: StoredObject): Promise<Uint8Array> {
    const bytes = new Uint8Array(size);
    let at = 0;
    while (at < size) {
      const headers = { [kObjectHeader]: name, [kOffsetHeader]: `${at}` };
      const answer = await this.#tryToAsk("object", headers);
      const piece = answer !== null && statusOf(answer) === "ok" ? answer.data : null;
      if (piece === null || piece.length === 0) throw new TemporarilyUnavailable();
      if (at + piece.length > size) break;
      bytes.set(piece, at);
      at += piece.length;
    }
    if (at !== size || (await digestOf(bytes)) !== digest) {
      fail("InvalidArgument", kWhere, `the object ${name} of run "${this.names.run}" is damaged.`);
    }
    return bytes;
  }

  /** The headers with which a client signs a file. */
  signed(round: number, digest: string, phase: string): Readonly<Record<string, string>> {
    const { run } = this.names;
    const { session, name: client } = this;
    const text = textOfUpdate({ run, round: `${round}`, phase, session, client, digest });
    const signature = this.keys.sign?.(text);
    return signature === undefined ? {} : { [kSignatureHeader]: signature };
  }

  /** Has the coordinator store a part of an update; null if none answers. */
  async send({ data, headers, id }: Part): Promise<Status | null> {
    const answer = await this.#tryToAsk("part", { ...headers, [kIdHeader]: id }, data);
    return answer && statusOf(answer);
  }

  /** Returns what has become of an update of a round, or of the last one; null if no coordinator answers, or the round is over. */
  async verdict(round: number, file?: Pick<FileName, "digest" | "tries">): Promise<Verdict | null> {
    const named = file && { [kDigestHeader]: file.digest, [kTryHeader]: `${file.tries}` };
    const headers = { [kRoundHeader]: `${round}`, ...named };
    const answer = await this.#tryToAsk("verdict", headers);
    if (answer === null || statusOf(answer) !== "ok") return null;
    return JSON.parse(new TextDecoder().decode(answer.data)) as Verdict;
  }

  /** Returns the answer; null if there is none. */
  async #tryToAsk(
    ask: Ask,
    headers: Readonly<Record<string, string>> = {},
    data?: Uint8Array,
  ): Promise<Sheet | null> {
    const { session, name, version } = this;
    const own = { [kSessionHeader]: session, ...(version !== "" && { [kVersionHeader]: version }) };
    let answer: Sheet;
    try {
      answer = await this.wire.ask(askFor(ask, { ...headers, ...own }, data));
    } catch (error) {
      if (isTransient(error) || error instanceof TemporarilyUnavailable) return null;
      throw error;
    }
    const status = statusOf(answer);
    if (status === "taken") {
      const message = `name: another process takes part in run "${this.names.run}" as "${name}"`;
      fail("InvalidArgument", kWhere, `${message}. Give each process a name of its own.`);
    }
    if (status === "unknown") {
      const message = `the coordinator of run "${this.names.run}" has no key of "${name}" that fits`;
      fail("InvalidArgument", kWhere, `${message}. See the option \`clients\` of serve().`);
    }
    if (status === "version") {
      const accepted = headerOf(answer, kVersionHeader);
      const got = version === "" ? "none" : version;
      const message = `version: run "${this.names.run}" takes clients of ${accepted}, got ${got}`;
      fail("InvalidArgument", kWhere, `${message}. Update this client.`);
    }
    return answer;
  }

  /** Returns the record of a message; null for one that is older than another that has been read. */
  async #recordIn(sheet: Sheet): Promise<RunRecord | "unsigned" | null> {
    const { run } = this.names;
    const revision = headerOf(sheet, kRevisionHeader);
    const { coordinator } = this.keys;
    if (coordinator !== null) {
      const text = textOfRecord(run, revision, await digestOf(sheet.data));
      const { key, check } = coordinator;
      if (!check(key, text, headerOf(sheet, kSignatureHeader))) return "unsigned";
    }
    const record = parseRecord(kWhere, run, sheet.data);
    this.#id ??= record.id;
    if (record.id !== this.#id) {
      const message = `run "${run}" has been deleted, and another one was begun under its name`;
      fail("InvalidArgument", kWhere, `${message}. Join again to take part in that.`);
    }
    if (Number(revision) < this.#revision) return null;
    this.#revision = Number(revision);
    this.#newest = record;
    return record;
  }

  /** Ends the connection. */
  close(): Promise<void> {
    return this.wire.close();
  }
}
