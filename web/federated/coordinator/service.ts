// Answers the requests of clients to the coordinator that leads. Clients can reach nothing else of a run.

import { isFull, isTransient } from "../../nats/failures.js";
import {
  type Ask,
  answerWith,
  headerOf,
  kAskHeader,
  kObjectHeader,
  kOffsetHeader,
  kSessionHeader,
  kVersionHeader,
  type Sheet,
} from "../asks.js";
import { ObjectGone } from "../nats/objects.js";
import type { RunRecord } from "../record.js";
import type { StoredObject } from "../stored_object.js";
import type { Signals, Store } from "../transport.js";
import type { Verify } from "../update/assembly.js";
import { fileOf, isLastPart, kIdHeader, kRoundHeader, kStoredHeaders } from "../update/encode.js";
import type { AcceptedVersions } from "./accepted_versions.js";
import type { Reporter } from "./events.js";
import type { Presence } from "./presence.js";
import type { Quotas } from "./quotas.js";
import type { Verdicts } from "./verdicts.js";

// What a client asks for at the same time; it asks for one thing after another.
const kMostAtOnce = 4;
const kVerdictMs = 1500;
const kMostPieceBytes = 512 * 1024;
const kHeaderSpace = 1024;

/** The part of the coordinator that answering uses. */
export interface ServiceHost {
  readonly storage: Store;
  readonly signals: Signals;
  readonly presence: Presence;
  readonly quotas: Quotas;
  readonly reporter: Reporter;
  readonly versions: AcceptedVersions;
  readonly verify: Verify;
  /** Whether a client may take part. */
  isKnown(client: string): Promise<boolean>;
  /** The current record, and the answer that has it. */
  record(): RunRecord;
  sheet(): Sheet;
  /** The verdicts of the open round; null if none is open. */
  verdicts(): Verdicts | null;
}

/** Answers clients. */
export class Service {
  readonly #asking = new Map<string, number>();
  readonly #objects = new Map<string, Promise<Uint8Array>>();
  #told = new Set<string>();
  #toldIn = "";

  constructor(private readonly host: ServiceHost) {}

  /** Returns the answer to a client; null if it asks for too much at once, or has gone on asking too often. */
  async answer(client: string, sheet: Sheet): Promise<Sheet | null> {
    const may = this.host.quotas.ask(client);
    if (may === "slower") {
      this.#tell(client, "flood", "the client asks too often.");
      return answerWith("busy");
    }
    if (may === "cut") this.#tell(client, "cut", "a client that asks too often is not answered.");
    if (may !== "yes") return null;
    const asking = this.#asking.get(client) ?? 0;
    if (asking >= kMostAtOnce) return null;
    this.#asking.set(client, asking + 1);
    try {
      return await this.#answer(client, sheet);
    } catch (error) {
      // Another coordinator may lead by now, and have replaced an object.
      if (!(error instanceof ObjectGone)) this.host.reporter.storeFailed(error);
      return answerWith("busy");
    } finally {
      const left = (this.#asking.get(client) ?? 1) - 1;
      if (left > 0) this.#asking.set(client, left);
      else this.#asking.delete(client);
    }
  }

  async #answer(client: string, sheet: Sheet): Promise<Sheet> {
    const { host } = this;
    if (!(await host.isKnown(client))) {
      this.#tell(client, "unknown", "there is no key of this client.");
      return answerWith("unknown");
    }
    const version = headerOf(sheet, kVersionHeader);
    if (!host.versions.accepts(version)) {
      const got = version === "" ? "none" : JSON.stringify(version.slice(0, 40));
      const message = `the run takes clients of versions ${host.versions.text}, got ${got}.`;
      this.#tell(client, "version", message);
      return answerWith("version", { [kVersionHeader]: host.versions.text });
    }
    if (!(await host.presence.admit(client, headerOf(sheet, kSessionHeader), version))) {
      this.#tell(client, "session", "another process takes part under this name.");
      return answerWith("taken");
    }
    switch (headerOf(sheet, kAskHeader) as Ask) {
      case "join":
        return answerWith("ok");
      case "record":
        return host.sheet();
      case "object":
        return this.#piece(sheet);
      case "part":
        return this.#store(client, sheet);
      case "verdict":
        return this.#verdict(client, sheet);
      default:
        return answerWith("none");
    }
  }

  async #piece(sheet: Sheet): Promise<Sheet> {
    const name = headerOf(sheet, kObjectHeader);
    const { weights, fragment, secure, rollout } = this.host.record();
    const { peers = null, shares = null } = secure?.step ?? {};
    const all = [weights, fragment?.weights ?? null, rollout?.weights ?? null, peers, shares];
    const object = all.find((object) => object?.name === name);
    if (!object) return answerWith("none");
    const bytes = await this.#read(object, all);
    const offset = Number(headerOf(sheet, kOffsetHeader));
    if (!Number.isSafeInteger(offset) || offset < 0) return answerWith("none");
    const size = Math.min(kMostPieceBytes, this.host.signals.maxPayload - kHeaderSpace);
    return answerWith("ok", {}, bytes.subarray(offset, offset + size));
  }

  /** Reads an object once, and keeps it as long as the record names it. */
  #read(object: StoredObject, current: readonly (StoredObject | null)[]): Promise<Uint8Array> {
    for (const name of this.#objects.keys()) {
      if (!current.some((object) => object?.name === name)) this.#objects.delete(name);
    }
    const kept = this.#objects.get(object.name);
    if (kept !== undefined) return kept;
    const reading = this.host.storage.readObject("serve", object);
    this.#objects.set(object.name, reading);
    reading.catch(() => this.#objects.delete(object.name));
    return reading;
  }

  async #store(client: string, sheet: Sheet): Promise<Sheet> {
    const { host } = this;
    const { state, round, selected, secure } = host.record();
    const isAsked = state === "open" && (secure?.step?.clients ?? selected).includes(client);
    if (!isAsked || headerOf(sheet, kRoundHeader) !== `${round}`) return answerWith("over");
    if (sheet.data.length > kMostPieceBytes) return answerWith("full");
    if (!(await host.verify(client, (name) => headerOf(sheet, name)))) {
      this.#tell(client, "signature", "an update is not signed by the key of this client.");
      return answerWith("unknown");
    }
    if (!host.quotas.send(client, sheet.data.length)) {
      this.#tell(client, "quota", "the client has sent its bytes of this hour.");
      return answerWith("full");
    }
    const isLast = isLastPart((name) => headerOf(sheet, name));
    const file = fileOf((name) => headerOf(sheet, name));
    // Before it is stored, because it may be read at once.
    if (isLast) host.verdicts()?.stored(client, file);
    const headers = Object.fromEntries(
      kStoredHeaders.map((name) => [name, headerOf(sheet, name)]).filter(([, value]) => value),
    );
    try {
      await host.storage.storePart(client, {
        data: sheet.data,
        headers,
        // Of this client only: the server would take another client's message with the same id for a repetition.
        id: `${client}/${headerOf(sheet, kSessionHeader)}/${headerOf(sheet, kIdHeader)}`,
      });
      host.reporter.storeWorks();
    } catch (error) {
      if (isLast) host.verdicts()?.notStored(client, file);
      if (isFull(error)) {
        this.#tell(
          client,
          "flood",
          "the server stores no more messages of this client in this round.",
        );
        return answerWith("full");
      }
      if (!isTransient(error)) throw error;
      host.reporter.storeFailed(error);
      return answerWith("busy");
    }
    host.presence.sent.wake();
    return answerWith("ok");
  }

  async #verdict(client: string, sheet: Sheet): Promise<Sheet> {
    const isThis = headerOf(sheet, kRoundHeader) === `${this.host.record().round}`;
    const verdicts = isThis ? this.host.verdicts() : null;
    if (verdicts === null) return answerWith("over");
    const file = fileOf((name) => headerOf(sheet, name));
    const verdict = await verdicts.of(client, file, kVerdictMs);
    return answerWith("ok", {}, new TextEncoder().encode(JSON.stringify(verdict)));
  }

  /** Reports a refusal, once for each client and reason in a round. */
  #tell(client: string, reason: string, message: string): void {
    const { round, attempt } = this.host.record();
    if (this.#toldIn !== `${round} ${attempt}`) {
      this.#toldIn = `${round} ${attempt}`;
      this.#told = new Set();
    }
    const key = `${client} ${reason}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.host.reporter.tell("refused", message, { client, reason });
  }
}
