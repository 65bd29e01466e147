// A client of a run: it waits for rounds, trains, and sends updates.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { isForbidden, isFull, isTransient } from "../../nats/failures.js";
import { sleep, WakeSignal } from "../../nats/waiting.js";
import { kGone, kPresenceMs, kSent } from "../presence_messages.js";
import type { RunRecord } from "../record.js";
import { kPhaseHeader, type Phase, phaseHeader } from "../secure/phases.js";
import { type ClientLink, openLink } from "../transport.js";
import { Compressor, encodeWeights, partsOf } from "../update/encode.js";
import type { State } from "../update/state.js";
import { TemporarilyUnavailable } from "./link.js";
import {
  type ClientRound,
  type JoinOptions,
  type ReadJoinOptions,
  readJoinOptions,
} from "./options.js";
import type { SecureClient } from "./secure.js";
import { type Trained, Trainer } from "./trainer.js";

const kWhere = "join";
// Clients are notified of changes of the record; polling finds those whose notification was lost with the connection.
const kPollMs = 2000;
const kRetryMs = 250;

/** A client of a run, which join() creates. */
export class Client {
  /** Resolves when the run has finished or the client has left; rejects with what train() throws, or if the run's weights do not fit. */
  readonly finished: Promise<void>;
  /** The client's name in the run. */
  readonly name: string;
  readonly #options: ReadJoinOptions;
  readonly #link: ClientLink;
  readonly #trainer: Trainer;
  readonly #changed = new WakeSignal();
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #compressor: Compressor | null = null;
  #secure: SecureClient | null = null;
  #handled = "";
  #forbidden: Error | null = null;
  #step: { readonly key: string; readonly controller: AbortController } | null = null;

  /** @internal */
  constructor(options: ReadJoinOptions, link: ClientLink, model: eg.nn.Module) {
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
    this.#link.onRecord(() => {
      this.#changed.wake();
      void this.#abortIfOver();
    });
    this.#link.onWho(() => this.#link.say());
    this.#link.onForbidden((error) => {
      this.#forbidden = error;
      leave();
    });
    const presence = setInterval(() => {
      this.#link.say();
      void this.#abortIfOver();
    }, kPresenceMs);
    try {
      this.#link.say();
      while (!signal.aborted) {
        const record = await this.#link.readRecord();
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
      given?.removeEventListener("abort", leave);
      this.#link.say(kGone);
      await this.#link.close();
    }
  }

  #refuse(error: Error): never {
    const { run } = this.#options.names;
    const message = `the server does not let "${this.name}" take part in "${run}": ${error.message}.`;
    return fail("InvalidArgument", kWhere, `${message} See docs/guide/federated.md.`);
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
    if (!isSecure && this.#handled === "" && (await this.#link.hasSent(round))) return;
    const clients = isSecure ? await (await this.#secureClient()).beforeTraining(record) : 1;
    if (clients === null) return;
    const trained = await this.#trainer.train(record, signal);
    try {
      const bytes = trained && (await this.#encode(record, trained, clients));
      let outcome: ClientRound["outcome"] = trained === null ? "late" : "refused";
      if (bytes !== null) outcome = await this.#send(bytes, record, "masked");
      if (outcome === "sent") trained?.sent();
      if (!this.#end.signal.aborted) {
        this.#options.onRound?.({ round, outcome, bytes: bytes?.length ?? 0 });
      }
    } finally {
      trained?.free();
    }
  }

  /** Returns the bytes of the update; null if the run's secure aggregation cannot add it. */
  async #encode(
    record: RunRecord,
    { before, after, result }: Trained,
    clients: number,
  ): Promise<Uint8Array | null> {
    const { round, client } = record;
    const { samples, metrics = {} } = result;
    if (record.secure !== undefined) {
      const secure = await this.#secureClient();
      return secure.encode(record, after, before, samples, clients);
    }
    const label = { run: this.#options.names.run, round, client: this.name, samples, metrics };
    const { compression } = client;
    if (compression === undefined) return encodeWeights(after, label);
    const { dtype = "float16", topK = 1 } = compression;
    this.#compressor ??= new Compressor({ dtype, topK });
    return this.#compressor.encode(after, before, label);
  }

  /** Sends a file, and retries until the server has it or the round is over. */
  async #send(
    bytes: Uint8Array,
    { round, secure }: RunRecord,
    phase: Phase,
  ): Promise<ClientRound["outcome"]> {
    const { signal } = this.#end;
    const { run } = this.#options.names;
    const label = { run, round, client: this.name };
    const headers = secure && { [kPhaseHeader]: phaseHeader(secure.attempt, phase) };
    const parts = await partsOf(bytes, label, this.#link.maxPayload, headers);
    while (!signal.aborted && this.#step?.controller.signal.aborted === false) {
      try {
        for (const part of parts) await this.#link.send(part);
        this.#link.say(kSent);
        return "sent";
      } catch (error) {
        if (isFull(error)) return "refused";
        if (!isTransient(error)) throw error;
        await sleep(kRetryMs, signal);
        await this.#abortIfOver();
      }
    }
    return "late";
  }

  /** Aborts a step if it is over. */
  async #abortIfOver(): Promise<void> {
    const step = this.#step;
    if (step === null) return;
    const record = await this.#link.readRecord().catch(() => null);
    if (record === null) return;
    if (keyOf(record) !== step.key || !this.#isAskedBy(record)) step.controller.abort();
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

/** Identifies a request to a client, which the client answers once. */
function keyOf({ round, secure }: RunRecord): string {
  const step = secure?.step;
  return step ? `${round} ${secure.attempt} ${step.phase} ${step.clients}` : `${round}`;
}

/**
 * Takes part in a federated run. In each round in which this client is selected, the round's weights are loaded into the model, `train` is
 * called, and the trained weights are sent. The client reconnects after failures of the network or the server. Throws InvalidArgument for
 * unknown options, and if no server can be reached at first.
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
  const link = await openLink(kWhere, read.place, read.names, read.name);
  if (!signal?.aborted) return new Client(read, link, model);
  await link.close();
  throw signal.reason;
}
