// The coordinator of a run. The README.md in the parent folder describes what is stored where, and how a coordinator resumes a run.

import * as eg from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { isConflict, isTransient } from "../../nats/failures.js";
import { sleep, WakeSignal } from "../../nats/waiting.js";
import type { Revised } from "../nats/storage.js";
import { RdpAccountant } from "../privacy/accountant.js";
import { type Fragment, objectsOf, type RoundSummary, type RunRecord } from "../record.js";
import { firstStep, kFirstSecureRecord } from "../secure/record.js";
import { kMostSecureClients } from "../secure/settings.js";
import type { Signals, Store } from "../transport.js";
import type { InboxLimits } from "../update/assembly.js";
import { withoutControls } from "../update/control.js";
import { areMetrics, type Expected } from "../update/decode.js";
import {
  at,
  copyOf,
  free,
  mapState,
  normOf,
  pick,
  type State,
  specOf,
  stateOf,
} from "../update/state.js";
import { collect } from "./collect.js";
import type { Collected, Host, Opening } from "./collected.js";
import { Lease } from "./lease.js";
import type { ReadServeOptions } from "./options.js";
import { Presence } from "./presence.js";
import { encodeProgress, restoreProgress } from "./progress.js";
import { choose, sample } from "./selection.js";

const kWhere = "serve";
const kRetryMs = 250;
const kPollMs = 1000;
const kUsualNorm = 100;
const kUsualSamples = 1e9;
const kUsualClients = 10_000;

/** The history of a run. */
export interface History {
  /** Whether the run has finished; false if the coordinator was stopped first. */
  readonly isComplete: boolean;
  /** The rounds that have ended, in order. */
  readonly rounds: readonly RoundSummary[];
  /** The bytes of all updates that clients have sent. */
  readonly bytesUp: number;
  /** The bytes of the weights that selected clients fetch, in all rounds. */
  readonly bytesDown: number;
}

/** What serve() prepares for a coordinator. */
export interface Prepared {
  readonly options: ReadServeOptions;
  readonly signals: Signals;
  readonly storage: Store;
  readonly model: eg.nn.Module;
  readonly record: Revised<RunRecord>;
  readonly limits: InboxLimits;
}

/** A run's coordinator, which serve() creates. */
export class Coordinator {
  /** Resolves when the run has finished or this coordinator is stopped; rejects if the run cannot continue. */
  readonly finished: Promise<History>;
  readonly #prepared: Prepared;
  readonly #lease: Lease;
  readonly #presence: Presence;
  readonly #wakeSignal = new WakeSignal();
  readonly #stop = new AbortController();
  readonly #accountant = new RdpAccountant();
  readonly #done: Promise<unknown>;
  #record: Revised<RunRecord>;
  #global: State = {};
  #leads = false;

  /** @internal */
  constructor(prepared: Prepared, id: string) {
    const { options, signals, storage, record } = prepared;
    this.#prepared = prepared;
    this.#record = record;
    this.#global = stateOf(prepared.model);
    this.#lease = new Lease(storage, id, options.lease);
    const most = options.limits.clients ?? kUsualClients;
    this.#presence = new Presence(signals, most, this.#wakeSignal);
    const run = this.#run().finally(() => signals.close());
    this.#done = run.catch(() => {});
    // A separate promise, so that an unhandled failure is reported.
    this.finished = run.then((history) => history);
  }

  /** The round in progress, from 1; the last one when the run has finished. */
  get round(): number {
    return this.#record.value.round;
  }

  /** Whether this coordinator leads; others stand by. */
  get leads(): boolean {
    return this.#leads;
  }

  /** The names of the clients that are present. */
  get clients(): string[] {
    return this.#presence.clients;
  }

  /** Returns copies of the weights of the round in progress that this coordinator has. */
  stateDict(): State {
    return copyOf(withoutControls(this.#global));
  }

  /** Stops this coordinator, so that another one takes over at once. serve() can continue the run later. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeSignal.wake();
    await this.#done;
  }

  async #run(): Promise<History> {
    const { signal } = this.#stop;
    try {
      while (!signal.aborted) {
        try {
          await this.#lease.acquire(signal, () => this.#look());
          if (signal.aborted) break;
          const isFinished = await this.#leadWhileHeld();
          if (isFinished) return await this.#history();
        } catch (error) {
          if (error instanceof FinishedElsewhere) return await this.#history();
          // Another coordinator leads, or the server is unavailable: begin again from what is stored.
          if (!isConflict(error) && !isTransient(error)) throw error;
          await sleep(kRetryMs, signal);
        }
      }
    } finally {
      this.#leads = false;
      await this.#lease.release().catch(() => {});
    }
    return this.#history();
  }

  /** Updates what a standby knows of the run. */
  async #look(): Promise<void> {
    const record = await this.#prepared.storage.readRecord();
    if (record === null) return;
    this.#record = record;
    if (record.value.state === "finished" && record.value.round >= this.#prepared.options.rounds) {
      await this.#loadWeights();
      throw new FinishedElsewhere();
    }
  }

  async #history(): Promise<History> {
    const { round, last, state } = this.#record.value;
    const stored = await this.#prepared.storage.readHistory(round - 1).catch((error) => {
      // The program may have stopped the coordinator because the server is unavailable.
      if (this.#stop.signal.aborted && isTransient(error)) return [];
      throw error;
    });
    const rounds =
      last === null ? stored : [...stored.filter((one) => one.round < last.round), last];
    const sum = (of: (one: RoundSummary) => number) =>
      rounds.reduce((all, one) => all + of(one), 0);
    const isComplete = state === "finished";
    return {
      isComplete,
      rounds,
      bytesUp: sum((one) => one.bytesUp),
      bytesDown: sum((one) => one.bytesDown),
    };
  }

  /** Leads until the run has finished (true), or until this coordinator is stopped or another one leads (false). */
  async #leadWhileHeld(): Promise<boolean> {
    const end = new AbortController();
    const abort = () => {
      end.abort();
      this.#wakeSignal.wake();
    };
    this.#stop.signal.addEventListener("abort", abort);
    const kept = this.#lease.keep(end.signal).finally(abort);
    // If keeping the lease fails, leading fails too and reports it.
    kept.catch(() => {});
    try {
      return await this.#lead(end.signal);
    } finally {
      this.#leads = false;
      abort();
      this.#stop.signal.removeEventListener("abort", abort);
    }
  }

  async #lead(signal: AbortSignal): Promise<boolean> {
    await this.#begin();
    this.#leads = true;
    this.#presence.ask();
    while (this.#record.value.state !== "finished") {
      if (this.#record.value.state === "waiting" && !(await this.#open(signal))) return false;
      const host = this.#host();
      const isSecure = this.#prepared.options.secure !== undefined;
      const collected = isSecure
        ? await (await import("./collect_securely.js")).collectSecurely(host, signal)
        : await collect(host, signal);
      if (signal.aborted) return false;
      if (collected !== null) await this.#close(collected);
    }
    return true;
  }

  /** Takes over the run: from now on, writes of the previous leader conflict. */
  async #begin(): Promise<void> {
    const { storage, options } = this.#prepared;
    // Read before the write that fences off others, so that all objects of a coordinator that takes over later are newer.
    const upTo = await storage.lastOfObjects();
    const record = await storage.readRecord();
    if (record === null) fail("InvalidArgument", kWhere, "the record of the run has been deleted.");
    const { value, revision } = record;
    const rounds = Math.max(options.rounds, value.round);
    const goesOn = value.state === "finished" && rounds > value.round;
    this.#record = await storage.writeRecord(
      {
        ...value,
        rounds,
        term: value.term + 1,
        ...(goesOn ? { state: "waiting", round: value.round + 1 } : {}),
      },
      revision,
    );
    await this.#loadWeights();
    const { progress, last } = this.#record.value;
    const stored = await storage.readObject(kWhere, progress);
    restoreProgress(stored, options.strategy, this.#accountant);
    await storage.deleteObjectsBut(objectsOf(this.#record.value), upTo);
    if (last !== null) await this.#tidy(last);
  }

  async #loadWeights(): Promise<void> {
    const { storage, model } = this.#prepared;
    const bytes = await storage.readObject(kWhere, this.#record.value.weights);
    const loaded = eg.io.loadSafetensors(bytes);
    model.loadStateDict(withoutControls(loaded));
    free(this.#global);
    this.#global = loaded;
  }

  /** Cleans up after a round; this can be repeated. */
  async #tidy(last: RoundSummary): Promise<void> {
    await this.#prepared.storage.writeHistory(last);
    await this.#prepared.storage.deleteUpdates(last.readTo);
  }

  /** Waits for clients and opens the round; returns false when the signal is aborted. */
  async #open(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const opening = this.#opening(0);
      if (opening !== null) {
        const { value, revision } = this.#record;
        this.#record = await this.#prepared.storage.writeRecord({ ...value, ...opening }, revision);
        return true;
      }
      await this.#wakeSignal.wait(kPollMs, signal);
    }
    return false;
  }

  #opening(attempt: number): Opening | null {
    const { minClients, clientsPerRound, deadline, seed, privacy, secure } = this.#prepared.options;
    const record = this.#record.value;
    const excluded = new Set(record.secure?.excluded);
    const clients = this.#presence.clients.filter((client) => !excluded.has(client));
    if (clients.length < minClients) return null;
    const most = secure === undefined ? clients.length : kMostSecureClients;
    const count = Math.min(clientsPerRound ?? clients.length, clients.length, most);
    const from = `${seed} ${record.round} ${record.secure?.attempt ?? 0} ${attempt}`;
    const probability = count / clients.length;
    const selected =
      privacy === undefined
        ? choose(clients, count, from)
        : sample(clients, probability, unguessable());
    const opened = Date.now();
    return {
      state: "open" as const,
      selected,
      sampling: { probability, expected: count },
      opened,
      deadline: opened + (secure?.handshake ?? deadline),
      ...(record.secure && { secure: { ...record.secure, step: firstStep(selected) } }),
    };
  }

  #host(): Host {
    const { options, storage, limits } = this.#prepared;
    return {
      options,
      storage,
      limits,
      presence: this.#presence,
      expected: this.#expected(),
      record: () => this.#record,
      write: async (record) => {
        this.#record = await storage.writeRecord(record, this.#record.revision);
      },
      opening: (attempt) => this.#opening(attempt),
      waitForClients: (signal) => this.#wakeSignal.wait(kPollMs, signal),
    };
  }

  #expected(): Expected {
    const { names, limits, compression } = this.#prepared.options;
    const { fragment } = this.#record.value;
    const global = fragment === undefined ? this.#global : pick(this.#global, fragment.keys);
    return {
      run: names.run,
      round: this.#record.value.round,
      spec: specOf(global),
      global,
      compression,
      mostSamples: limits.samples ?? kUsualSamples,
      mostNorm: limits.norm ?? kUsualNorm * Math.max(1, normOf(global)),
    };
  }

  /** Computes the next weights and commits them together with the names of the counted clients. */
  async #close(collected: Collected): Promise<void> {
    const { storage, options, model } = this.#prepared;
    const { strategy, privacy } = options;
    const { value, revision } = this.#record;
    const { round, sampling, secure } = value;
    const made = collected.aggregate();
    const next = mapState(this.#global, (tensor, key) =>
      Object.hasOwn(made, key) ? at(made, key) : tensor.clone(),
    );
    if (privacy !== undefined) this.#accountant.step({ ...privacy, ...sampling });
    model.loadStateDict(withoutControls(next));
    const evaluated = (await options.evaluate?.({ model, round })) ?? {};
    if (!areMetrics(Object.entries(evaluated))) {
      refuse(kWhere, "evaluate", "at most 64 finite numbers by short names", evaluated);
    }
    const { clients, samples, refused, readTo } = collected;
    const summary: RoundSummary = {
      round,
      clients,
      samples,
      metrics: { ...collected.metrics, ...evaluated },
      refused,
      bytesUp: collected.bytes,
      bytesDown: (value.fragment?.weights ?? value.weights).size * value.selected.length,
      time: Date.now() - value.opened,
      ...(privacy && { epsilon: this.#accountant.epsilon(privacy.delta) }),
      ...(secure && { failures: secure.failures }),
      readTo,
    };
    const stamp = `${round}-${value.term}`;
    const weights = await storage.putObject(`weights-${stamp}`, eg.io.saveSafetensors(next));
    const progress = await storage.putObject(
      `progress-${stamp}`,
      encodeProgress(strategy, this.#accountant),
    );
    const fragment = await this.#nextFragment(next, made, stamp);
    const isLast = round >= value.rounds;
    const following: RunRecord = {
      ...value,
      state: isLast ? "finished" : "waiting",
      round: isLast ? round : round + 1,
      weights,
      progress,
      fragment,
      ...(secure && { secure: { ...kFirstSecureRecord, excluded: secure.excluded } }),
      last: summary,
    };
    this.#record = await storage.writeRecord(following, revision);
    free(this.#global);
    this.#global = next;
    options.onRound?.(summary);
    await this.#tidy(summary);
    await storage.deleteObjects(objectsOf(value));
  }

  /** The fragment of the next round, if rounds have fragments; stores what this round has changed. */
  async #nextFragment(next: State, made: State, stamp: string): Promise<Fragment | undefined> {
    const { storage, options } = this.#prepared;
    const keys = options.strategy.keysOf(next, this.#record.value.round + 1);
    if (keys === null) return undefined;
    const bytes = eg.io.saveSafetensors(made);
    return { keys, weights: await storage.putObject(`fragment-${stamp}`, bytes) };
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

class FinishedElsewhere extends Error {}

// The epsilon of a private run holds only if others cannot predict which clients take part.
function unguessable(): string {
  return globalThis.crypto.randomUUID();
}
