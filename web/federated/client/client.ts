// A client of a run: it waits for rounds, trains, and sends updates.

import * as eg from "edgegrad";
import { connectTo } from "../../nats/connection.js";
import { fail, refuse } from "../../nats/errors.js";
import { isForbidden, isFull, isPassing } from "../../nats/failures.js";
import { isPlain } from "../../nats/options.js";
import { Bell, sleep } from "../../nats/waiting.js";
import { kGone, kPresenceMs, kSent } from "../coordinator/presence.js";
import { ObjectGone } from "../nats/objects.js";
import type { RunRecord } from "../record.js";
import { areMetrics } from "../update/decode.js";
import { Compressor, encodeWeights, partsOf } from "../update/encode.js";
import { free, type State, stateOf } from "../update/state.js";
import { Link } from "./link.js";
import {
  type JoinOptions,
  type ReadJoinOptions,
  readJoinOptions,
  type TrainResult,
} from "./options.js";
import { addProximalTerm } from "./proximal.js";

const kWhere = "join";
// Changes of the record are heard at once; this is for those that a broken connection has swallowed.
const kPollMs = 2000;
const kRetryMs = 250;

/** A client, which join() makes. */
export class Client {
  /** Resolves when the run has finished or the client has left; rejects with what train() throws, and if the run's weights do not fit. */
  readonly finished: Promise<void>;
  /** The client's name in the run. */
  readonly name: string;
  readonly #options: ReadJoinOptions;
  readonly #link: Link;
  readonly #model: eg.nn.Module;
  readonly #changed = new Bell();
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #compressor: Compressor | null = null;
  #handled = 0;
  #forbidden: Error | null = null;
  #training: { readonly round: number; readonly controller: AbortController } | null = null;

  /** @internal */
  constructor(options: ReadJoinOptions, link: Link, model: eg.nn.Module) {
    this.#options = options;
    this.#link = link;
    this.#model = model;
    this.name = options.name;
    const run = this.#run();
    this.#done = run.catch(() => {});
    // A promise of its own, so that a failure which nobody handles is reported.
    this.finished = run.then(() => {});
  }

  /** Leaves the run: training is aborted, and an update that is not stored yet is not sent. */
  async leave(): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal: given } = this.#options;
    const { signal } = this.#end;
    const leave = () => this.#end.abort();
    given?.addEventListener("abort", leave);
    if (given?.aborted) leave();
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
        const isMine = record?.state === "open" && record.selected.includes(this.name);
        if (record === null || !isMine || record.round === this.#handled) {
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
      clearInterval(presence);
      given?.removeEventListener("abort", leave);
      this.#link.say(kGone);
      // A server that is away must not keep the client from leaving.
      const { connection } = this.#link;
      await Promise.race([connection.flush().catch(() => {}), sleep(kRetryMs)]);
      await connection.close();
    }
  }

  #refuse(error: Error): never {
    const { run } = this.#options.names;
    const message = `the server does not let "${this.name}" take part in "${run}": ${error.message}.`;
    return fail("InvalidArgument", kWhere, `${message} See docs/guide/federated.md.`);
  }

  async #takePart(record: RunRecord): Promise<void> {
    const { round } = record;
    let weights: State;
    try {
      if (this.#handled === 0 && (await this.#link.hasSent(round))) {
        this.#handled = round;
        return;
      }
      weights = eg.io.loadSafetensors(await this.#link.readObject(record.weights));
    } catch (error) {
      if (!isPassing(error) && !(error instanceof ObjectGone)) throw error;
      return sleep(kRetryMs, this.#end.signal);
    }
    try {
      this.#model.loadStateDict(weights);
      const controller = new AbortController();
      const abort = () => controller.abort();
      this.#end.signal.addEventListener("abort", abort);
      if (this.#end.signal.aborted) abort();
      this.#training = { round, controller };
      try {
        const bytes = await this.#train(record, weights, controller.signal);
        const outcome = bytes === null ? "late" : await this.#send(bytes, record);
        this.#handled = round;
        if (!this.#end.signal.aborted) {
          this.#options.onRound?.({ round, outcome, bytes: bytes?.length ?? 0 });
        }
      } finally {
        this.#training = null;
        this.#end.signal.removeEventListener("abort", abort);
      }
    } finally {
      free(weights);
    }
  }

  /** Trains and returns the bytes of the update; null if it is not wanted any more. */
  async #train(record: RunRecord, weights: State, signal: AbortSignal): Promise<Uint8Array | null> {
    const { round, client } = record;
    const model = this.#model;
    const takeOff = client.mu ? addProximalTerm(model, client.mu) : () => {};
    let result: TrainResult;
    try {
      result = checked(await this.#options.train({ model, round, signal }));
    } catch (error) {
      // train() may end by throwing when it is aborted.
      if (signal.aborted) return null;
      throw error;
    } finally {
      takeOff();
    }
    if (signal.aborted) return null;
    const { samples, metrics = {} } = result;
    const label = { run: this.#options.names.run, round, client: this.name, samples, metrics };
    const trained = stateOf(model);
    try {
      const { compression } = client;
      if (compression === undefined) return encodeWeights(trained, label);
      const { dtype = "float16", topK = 1 } = compression;
      this.#compressor ??= new Compressor({ dtype, topK });
      return this.#compressor.encode(trained, weights, label);
    } finally {
      free(trained);
    }
  }

  /** Sends an update, again and again until the server has it or the round is over. */
  async #send(bytes: Uint8Array, { round }: RunRecord): Promise<"sent" | "late" | "refused"> {
    const { signal } = this.#end;
    const { run } = this.#options.names;
    const label = { run, round, client: this.name, samples: 0, metrics: {} };
    const parts = await partsOf(bytes, label, this.#link.maxPayload);
    while (!signal.aborted && this.#training?.controller.signal.aborted === false) {
      try {
        for (const part of parts) await this.#link.send(part);
        this.#link.say(kSent);
        return "sent";
      } catch (error) {
        if (isFull(error)) return "refused";
        if (!isPassing(error)) throw error;
        await sleep(kRetryMs, signal);
        await this.#abortIfOver();
      }
    }
    return "late";
  }

  /** Aborts training if its round is over. */
  async #abortIfOver(): Promise<void> {
    const training = this.#training;
    if (training === null) return;
    const record = await this.#link.readRecord().catch(() => null);
    if (record === null) return;
    const isOpen = record.state === "open" && record.round === training.round;
    if (!isOpen || !record.selected.includes(this.name)) training.controller.abort();
  }
}

function checked(result: unknown): TrainResult {
  if (!isPlain(result)) {
    refuse(kWhere, "train", "a promise of { samples, metrics? }", result);
  }
  const { samples, metrics = {} } = result;
  if (!Number.isSafeInteger(samples) || Number(samples) < 1) {
    refuse(kWhere, "samples", "a whole number of at least 1, from train()", samples);
  }
  if (!isPlain(metrics) || !areMetrics(Object.entries(metrics))) {
    refuse(kWhere, "metrics", "at most 64 finite numbers by short names, from train()", metrics);
  }
  return { samples: samples as number, metrics: metrics as Record<string, number> };
}

/**
 * Takes part in a federated run: for each round in which this client is selected, the round's weights are loaded into the model, `train`
 * is called, and what it has made of them is sent. The connection is kept up through failures of the network and the server. Throws
 * InvalidArgument for options that it does not know, and if no server can be reached at first.
 */
export async function join(options: JoinOptions): Promise<Client> {
  const read = readJoinOptions(options);
  const model: unknown = read.model();
  if (!(model instanceof eg.nn.Module)) {
    fail("InvalidArgument", kWhere, "model: expected a function that returns an nn.Module.");
  }
  const connection = await connectTo(kWhere, read.connection, read.name);
  try {
    return new Client(read, await Link.open(connection, read.names, read.name), model);
  } catch (error) {
    await connection.close();
    throw error;
  }
}
