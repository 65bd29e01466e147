// A client of a run: it waits for rounds, trains, and sends updates.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { isForbidden } from "../../nats/failures.js";
import { sleep, WakeSignal } from "../../nats/waiting.js";
import { digestOf } from "../digest.js";
import { kGone, kHere, kPresenceMs } from "../presence_messages.js";
import type { RunRecord } from "../record.js";
import { revisionFor } from "../rollout.js";
import { kPhaseHeader, type Phase, phaseHeader } from "../secure/phases.js";
import { loadCheck, signerOf } from "../signatures.js";
import { credentialsOf, openWire } from "../transport.js";
import { TemporarilyUnavailable } from "../unavailable.js";
import {
  type Compressed,
  Compressor,
  encodeWeights,
  type FileName,
  type Part,
  splitIntoParts,
} from "../update/encode.js";
import type { State } from "../update/state.js";
import { Link } from "./link.js";
import {
  type ClientRound,
  type JoinOptions,
  type ReadJoinOptions,
  type Refused,
  readJoinOptions,
} from "./options.js";
import type { SecureClient } from "./secure.js";
import { type Trained, Trainer } from "./trainer.js";

const kWhere = "join";
// Clients are notified of changes of the record, and ask when a connection has been made again; polling finds notifications that were lost.
const kPollMs = 30_000;
const kRetryMs = 250;

/** The end of an attempt at a round, without what the client knows itself. */
type Sent = Pick<ClientRound, "outcome"> & { readonly refused?: Refused; readonly again?: boolean };

/** A client of a run, which join() creates. */
export class Client {
  /** Resolves when the run has finished or the client has left; rejects with what train() throws, or if the run's weights do not fit. */
  readonly finished: Promise<void>;
  /** The client's name in the run. */
  readonly name: string;
  readonly #options: ReadJoinOptions;
  readonly #link: Link;
  readonly #trainer: Trainer;
  readonly #changed = new WakeSignal();
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #compressor: Compressor | null = null;
  #secure: SecureClient | null = null;
  #handled = "";
  #record: RunRecord | null = null;
  #forbidden: Error | null = null;
  #step: { readonly key: string; readonly controller: AbortController } | null = null;

  /** @internal */
  constructor(options: ReadJoinOptions, link: Link, model: eg.nn.Module) {
    this.#options = options;
    this.#link = link;
    this.#trainer = new Trainer(options, link, model);
    this.name = options.name;
    const run = this.#run();
    this.#done = run.catch(() => {});
    // A separate promise, so that an unhandled failure is reported.
    this.finished = run.then(() => {});
  }

  /** Leaves the run: aborts training, and does not send an update that is not stored yet. */
  async leave(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  /** Returns the state that this client keeps between rounds, for the option `state` when it is restarted. */
  stateDict(): State {
    return this.#trainer.stateDict();
  }

  async #run(): Promise<void> {
    const { signal: given } = this.#options;
    const { signal } = this.#end;
    const leave = () => this.#end.abort();
    given?.addEventListener("abort", leave);
    const { wire } = this.#link;
    this.#link.onRecord((record) => this.#hear(record));
    wire.onBack(() => this.#hear(null));
    wire.onWho(() => this.#link.say(kHere));
    wire.onForbidden((error) => {
      this.#forbidden = error;
      leave();
    });
    const presence = setInterval(() => this.#link.say(kHere), kPresenceMs);
    const polling = setInterval(() => this.#hear(null), kPollMs);
    try {
      this.#link.say(kHere);
      while (!signal.aborted) {
        const read = this.#record ?? (await this.#link.readRecord());
        // Another one may have been announced meanwhile.
        const record = read === null && this.#record === null ? null : this.#link.newest;
        this.#record = null;
        if (record?.state === "finished") return;
        if (record !== null) this.#checkSecure(record);
        if (record === null || !this.#isAskedBy(record) || keyOf(record) === this.#handled) {
          await this.#changed.wait(kPollMs, signal);
        } else {
          await this.#takePart(record);
        }
      }
      if (this.#forbidden !== null) this.#refuse(this.#forbidden);
    } catch (error) {
      if (isForbidden(error)) this.#refuse(error as Error);
      throw error;
    } finally {
      this.#trainer.free();
      clearInterval(presence);
      clearInterval(polling);
      given?.removeEventListener("abort", leave);
      this.#link.say(kGone);
      await this.#link.close();
    }
  }

  /** Takes the record as it was announced, or asks for it. */
  #hear(record: RunRecord | null): void {
    if (record !== null) {
      this.#record = record;
      this.#abortIfOver(record);
    } else if (this.#step !== null) {
      // What cannot be read now is read when the step is over.
      void this.#link.readRecord().then(
        (read) => read !== null && this.#abortIfOver(read),
        () => {},
      );
    }
    this.#changed.wake();
  }

  #refuse(error: Error): never {
    return refuseForbidden(this.#options, error);
  }

  async #takePart(record: RunRecord): Promise<void> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    this.#end.signal.addEventListener("abort", abort);
    if (this.#end.signal.aborted) abort();
    const step = { key: keyOf(record), controller };
    this.#step = step;
    try {
      const { phase = "masked" } = record.secure?.step ?? {};
      if (phase === "masked") await this.#trainIn(record, controller.signal);
      else await this.#answer(record, phase);
      this.#handled = step.key;
    } catch (error) {
      if (!(error instanceof TemporarilyUnavailable)) throw error;
      await sleep(kRetryMs, this.#end.signal);
    } finally {
      this.#step = null;
      this.#end.signal.removeEventListener("abort", abort);
    }
  }

  /** Loads the code for secure rounds, which most runs do not have. */
  async #secureClient(): Promise<SecureClient> {
    const { SecureClient } = await import("./secure.js");
    this.#secure ??= new SecureClient(this.#link, this.name);
    return this.#secure;
  }

  /** A step of a secure round without training. */
  async #answer(record: RunRecord, phase: Phase): Promise<void> {
    const bytes = await (await this.#secureClient()).answer(record);
    if (bytes !== null) await this.#send(bytes, record, phase);
  }

  async #trainIn(record: RunRecord, signal: AbortSignal): Promise<void> {
    const { round } = record;
    const isSecure = record.secure !== undefined;
    if (!isSecure && this.#handled === "" && (await this.#hasSent(round))) return;
    const clients = isSecure ? await (await this.#secureClient()).beforeTraining(record) : 1;
    if (clients === null) return;
    let refused: Refused | undefined;
    for (let tries = 1; ; tries++) {
      const trained = await this.#trainer.train(record, signal, refused);
      const { bytes, ...end } = await this.#endOf(record, trained, clients, tries);
      if (this.#end.signal.aborted) return;
      refused = end.refused;
      if (refused !== undefined && end.again && !signal.aborted) continue;
      this.#options.onRound?.({ round, outcome: end.outcome, bytes, ...refused });
      return;
    }
  }

  /** Whether the coordinator has an update of this client, from before a restart. */
  async #hasSent(round: number): Promise<boolean> {
    const verdict = await this.#link.verdict(round);
    // A coordinator that has just begun to lead does not know yet.
    if (verdict === null || verdict.state === "wait") throw new TemporarilyUnavailable();
    return verdict.state === "counted";
  }

  /** Sends what training has given, and frees it. */
  async #endOf(
    record: RunRecord,
    trained: Trained | null,
    clients: number,
    tries: number,
  ): Promise<Sent & { readonly bytes: number }> {
    if (trained === null) return { outcome: "late", bytes: 0 };
    let encoded: Compressed | null = null;
    let isCounted = false;
    try {
      encoded = await this.#encode(record, trained, clients);
      if (encoded === null) {
        const message = "training went beyond the range of secure aggregation, or to NaN";
        return { outcome: "refused", bytes: 0, refused: { reason: "range", message } };
      }
      const sent = await this.#send(encoded.bytes, record, "masked", tries);
      isCounted = sent.outcome === "sent";
      if (isCounted) trained.sent();
      return { ...sent, bytes: encoded.bytes.length };
    } finally {
      if (isCounted) encoded?.counted();
      else encoded?.dropped();
      trained.free();
    }
  }

  /** Returns the update; null if the run's secure aggregation cannot add it. */
  async #encode(
    record: RunRecord,
    { before, after, result }: Trained,
    clients: number,
  ): Promise<Compressed | null> {
    const { round, client } = record;
    const { samples, metrics = {} } = result;
    const plain = (bytes: Uint8Array) => ({ bytes, counted: () => {}, dropped: () => {} });
    if (record.secure !== undefined) {
      const secure = await this.#secureClient();
      const bytes = await secure.encode(record, after, before, samples, clients);
      return bytes && plain(bytes);
    }
    const { name: revision } = revisionFor(record, this.name);
    const { run } = this.#options.names;
    const label = { run, round, revision, client: this.name, samples, metrics };
    const { compression } = client;
    if (compression === undefined) return plain(encodeWeights(after, label));
    const { dtype = "float16", topK = 1 } = compression;
    this.#compressor ??= new Compressor({ dtype, topK });
    return this.#compressor.encode(after, before, label);
  }

  /** Sends a file until the coordinator has it or the round is over, and resolves to what has become of it. */
  async #send(bytes: Uint8Array, record: RunRecord, phase: Phase, tries = 1): Promise<Sent> {
    const { round, attempt, secure } = record;
    const digest = await digestOf(bytes);
    const file = { round, attempt, tries, digest };
    const header = secure === undefined ? "" : phaseHeader(secure.attempt, phase);
    const headers = {
      ...this.#link.signed(round, digest, header),
      ...(header !== "" && { [kPhaseHeader]: header }),
    };
    for (const part of splitIntoParts(bytes, file, this.#link.maxPayload, headers)) {
      const refused = await this.#sendPart(part);
      if (refused !== null) return refused;
    }
    // Nobody can say more of a masked update.
    return secure === undefined ? this.#verdict(file) : { outcome: "sent" };
  }

  /** Resolves to null when a part is stored. */
  async #sendPart(part: Part): Promise<Sent | null> {
    while (this.#isInStep) {
      switch (await this.#link.send(part)) {
        case "ok":
          return null;
        case "over":
          return { outcome: "late" };
        case "full": {
          const message = "the server stores no more messages of this client in this round";
          return { outcome: "refused", refused: { reason: "flood", message } };
        }
      }
      await sleep(kRetryMs, this.#end.signal);
    }
    return { outcome: "late" };
  }

  async #verdict(file: FileName): Promise<Sent> {
    const { round } = file;
    while (this.#isInStep) {
      const verdict = await this.#link.verdict(round, file);
      if (verdict === null) {
        await sleep(kRetryMs, this.#end.signal);
      } else if (verdict.state === "counted") {
        return { outcome: "sent" };
      } else if (verdict.state === "refused") {
        const { reason = "", message = "", again = false } = verdict;
        return { outcome: "refused", refused: { reason, message }, again };
      } else if (verdict.state === "none") {
        return { outcome: "late" };
      }
    }
    return { outcome: this.#wasCounted(round) ? "sent" : "late" };
  }

  /** Whether the record that ended a round says that this client's update is counted. */
  #wasCounted(round: number): boolean {
    const { last = null } = this.#record ?? {};
    return last?.round === round && last.clients.includes(this.name);
  }

  get #isInStep(): boolean {
    return !this.#end.signal.aborted && this.#step?.controller.signal.aborted === false;
  }

  /** Aborts a step if a record says that it is over. */
  #abortIfOver(record: RunRecord): void {
    const step = this.#step;
    if (step === null) return;
    if (keyOf(record) !== step.key || !this.#isAskedBy(record)) {
      this.#record ??= record;
      step.controller.abort();
    }
  }

  #isAskedBy({ state, selected, secure }: RunRecord): boolean {
    return state === "open" && (secure?.step?.clients ?? selected).includes(this.name);
  }

  /** Throws if this client sends only masked updates, and the run accepts others. */
  #checkSecure({ client }: RunRecord): void {
    if (!this.#options.secureAggregation || client.secure !== undefined) return;
    const { run } = this.#options.names;
    const message = `secureAggregation: the run "${run}" has none`;
    fail("InvalidArgument", kWhere, `${message}, and "${this.name}" sends masked updates only.`);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function refuseForbidden({ name, names }: ReadJoinOptions, error: Error): never {
  const message = `the server does not let "${name}" take part in "${names.run}": ${error.message}.`;
  return fail("InvalidArgument", kWhere, `${message} See docs/guide/federated.md.`);
}

/** Identifies a request to a client, which the client answers once. */
function keyOf({ round, attempt, secure }: RunRecord): string {
  const step = secure?.step;
  return step ? `${round} ${secure.attempt} ${step.phase} ${step.clients}` : `${round} ${attempt}`;
}

/**
 * Takes part in a federated run. In each round in which this client is selected, the round's weights are loaded into the model, `train` is
 * called, and the trained weights are sent. The client reconnects after failures of the network or the server. Throws InvalidArgument for
 * unknown options, if no server can be reached at first, and if another process takes part under the same name.
 */
export async function join<Model extends eg.nn.Module>(
  options: JoinOptions<Model>,
): Promise<Client> {
  const read = readJoinOptions(options);
  const { signal } = read;
  if (signal?.aborted) throw signal.reason;
  const model: unknown = read.model();
  if (!(model instanceof eg.nn.Module)) {
    fail("InvalidArgument", kWhere, "model: expected a function that returns an nn.Module.");
  }
  const keys = {
    sign: await signerOf(kWhere, credentialsOf(read.place)),
    coordinator:
      read.coordinator === undefined
        ? null
        : { key: read.coordinator, check: await loadCheck(kWhere) },
  };
  const wire = await openWire(kWhere, read.place, read.names, read.name);
  const link = new Link(wire, read.names, read.name, read.version, keys);
  try {
    await link.join();
    signal?.throwIfAborted();
    return new Client(read, link, model);
  } catch (error) {
    await link.close();
    if (signal?.aborted) throw signal.reason;
    if (isForbidden(error)) refuseForbidden(read, error as Error);
    throw error;
  }
}
