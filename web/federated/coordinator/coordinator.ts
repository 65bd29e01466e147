// The coordinator of a run. The README.md in the parent folder describes what is stored where, and how a coordinator resumes a run.

import * as eg from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { isConflict, isTransient } from "../../nats/failures.js";
import { sleep, WakeSignal } from "../../nats/waiting.js";
import type { Revised } from "../nats/storage.js";
import { kPresenceMs } from "../presence_messages.js";
import { RdpAccountant } from "../privacy/accountant.js";
import { type Fragment, objectsOf, type RoundSummary, type RunRecord } from "../record.js";
import { ownRevision } from "../rollout.js";
import type { Sign } from "../signatures.js";
import type { Signals, Store } from "../transport.js";
import type { InboxLimits } from "../update/assembly.js";
import { withoutControls } from "../update/control.js";
import { areMetrics, type Expected } from "../update/decode.js";
import { at, copyOf, free, mapState, type State, specOf, stateOf } from "../update/state.js";
import { Candidate } from "./candidate.js";
import { collect } from "./collect.js";
import type { Collected, Host, Opening } from "./collected.js";
import { Reporter } from "./events.js";
import { expectedOf } from "./expected.js";
import { type History, HistoryReader } from "./history.js";
import type { Known } from "./known.js";
import { Lease } from "./lease.js";
import { openingOf, waitForOpening } from "./opening.js";
import type { ReadServeOptions } from "./options.js";
import { Presence } from "./presence.js";
import { encodeProgress, restoreProgress } from "./progress.js";
import { Quotas } from "./quotas.js";
import { endOf, recordAfter, summaryOf } from "./round_end.js";
import { RunState } from "./run_state.js";
import { Service } from "./service.js";
import { Verdicts } from "./verdicts.js";

const kWhere = "serve";
const kRetryMs = 250;
const kLost = "the connection to it is lost";
const kUsualClients = 10_000;
// Clients that have missed the end of a run are told of it for this long.
const kLingerMs = 2 * kPresenceMs;

/** What serve() prepares for a coordinator. */
export interface Prepared {
  readonly options: ReadServeOptions;
  readonly signals: Signals;
  readonly storage: Store;
  readonly model: eg.nn.Module;
  readonly record: Revised<RunRecord>;
  readonly limits: InboxLimits;
  readonly known: Known;
  /** Signs the record; null if the coordinator has no key. */
  readonly sign: Sign | null;
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
  readonly #state: RunState;
  #global: State = {};
  readonly #candidate: Candidate;
  #leads = false;
  #leader = "";
  readonly #reporter: Reporter;
  readonly #service: Service;
  #stopAnswering = () => {};
  #verdicts: Verdicts | null = null;
  readonly #past: HistoryReader;

  /** @internal */
  constructor(prepared: Prepared, id: string) {
    const { options, signals, storage, record } = prepared;
    this.#prepared = prepared;
    this.#state = new RunState(options.names.run, storage, signals, prepared.sign, record);
    this.#past = new HistoryReader(storage);
    this.#global = stateOf(prepared.model);
    this.#lease = new Lease(storage, id, options.lease);
    const most = options.limits.clients ?? kUsualClients;
    const { known } = prepared;
    const isKnown = (client: string) => known.isKnown(client);
    const { asksPerSecond, bytesPerHour } = options.limits;
    const quotas = new Quotas(asksPerSecond, bytesPerHour);
    const { versions } = options;
    this.#presence = new Presence(signals, most, this.#wakeSignal, isKnown, versions, quotas);
    this.#reporter = new Reporter(options.names.run, options.onEvent, () => this.round);
    this.#candidate = new Candidate(storage, options, this.#reporter);
    this.#service = new Service({
      storage,
      signals,
      presence: this.#presence,
      quotas,
      reporter: this.#reporter,
      versions,
      verify: known.verify,
      isKnown,
      record: () => this.#state.value,
      sheet: () => this.#state.sheet,
      verdicts: () => this.#verdicts,
    });
    // A server that is back soon may have missed nothing: the loss of the connection itself is told.
    signals.onLost(() => {
      if (!this.#stop.signal.aborted) this.#reporter.storeFailed(new Error(kLost));
    });
    const run = this.#run();
    const closed = run.then((history) => this.#linger(history)).finally(() => this.#close());
    this.#done = closed.catch(() => {});
    // A separate promise, so that an unhandled failure is reported.
    this.finished = run.then((history) => history);
  }

  /** The round in progress, from 1; the last one when the run has finished. */
  get round(): number {
    return this.#state.value.round;
  }

  /** Whether this coordinator leads; others stand by. */
  get leads(): boolean {
    return this.#leads;
  }

  /** The names of the clients that are present. */
  get clients(): string[] {
    return this.#presence.clients;
  }

  /** How many of the clients that are present have each version; "" is that of clients that say none. */
  get clientVersions(): Record<string, number> {
    return this.#presence.versionCounts;
  }

  /** Returns copies of the weights of the round in progress that this coordinator has. */
  stateDict(): State {
    return copyOf(withoutControls(this.#global));
  }

  /** Resolves to the rounds that have ended so far, also those of other coordinators and from before a restart. */
  history(): Promise<History> {
    return this.#past.read(this.#state.value, this.#stop.signal);
  }

  /** Stops this coordinator, so that another one takes over at once. serve() can continue the run later. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeSignal.wake();
    await this.#done;
  }

  /** Answers clients for a while when the run has finished. */
  async #linger({ isComplete }: History): Promise<void> {
    const end = performance.now() + kLingerMs;
    const { signal } = this.#stop;
    while (isComplete && !signal.aborted && this.clients.length > 0) {
      const left = end - performance.now();
      if (left <= 0) return;
      await this.#wakeSignal.wait(left, signal);
    }
  }

  async #close(): Promise<void> {
    this.#candidate.free();
    this.#stopAnswering();
    await this.#prepared.signals.close();
  }

  async #run(): Promise<History> {
    const { signal } = this.#stop;
    try {
      while (!signal.aborted) {
        try {
          await this.#lease.acquire(signal, (holder) => this.#look(holder));
          if (signal.aborted) break;
          const isFinished = await this.#leadWhileHeld();
          if (isFinished) {
            this.#reporter.tell("finished", `the run has finished after ${this.round} rounds.`);
            return await this.history();
          }
          if (!signal.aborted) this.#reporter.tell("deposed", "the lease could not be renewed.");
        } catch (error) {
          if (error instanceof FinishedElsewhere) return await this.history();
          // Another coordinator leads, or the server is unavailable: begin again from what is stored.
          if (isConflict(error))
            this.#reporter.tell("deposed", "another coordinator has taken over.");
          else if (isTransient(error)) this.#reporter.storeFailed(error);
          else throw error;
          await sleep(kRetryMs, signal);
        }
      }
    } finally {
      this.#leads = false;
      await this.#lease.release().catch(() => {});
    }
    return this.history();
  }

  /** Updates what a standby knows of the run. */
  async #look(holder: string): Promise<void> {
    if (holder !== this.#leader) this.#reporter.tell("standby", `${holder} leads.`);
    this.#leader = holder;
    const record = await this.#prepared.storage.readRecord();
    this.#reporter.storeWorks();
    if (record === null) return;
    this.#state.current = record;
    if (record.value.state === "finished" && record.value.round >= this.#prepared.options.rounds) {
      await this.#loadWeights();
      throw new FinishedElsewhere();
    }
  }

  /** Leads until the run has finished (true), or until this coordinator is stopped or another one leads (false). */
  async #leadWhileHeld(): Promise<boolean> {
    const end = new AbortController();
    const abort = () => {
      end.abort();
      this.#wakeSignal.wake();
    };
    this.#stop.signal.addEventListener("abort", abort);
    const kept = this.#lease
      .keep(end.signal, {
        failed: (error) => this.#reporter.storeFailed(error),
        works: () => this.#reporter.storeWorks(),
      })
      .finally(abort);
    // If keeping the lease fails, leading fails too and reports it.
    kept.catch(() => {});
    try {
      return await this.#lead(end.signal);
    } finally {
      this.#leads = false;
      this.#endVerdicts();
      if (this.#state.value.state !== "finished") this.#stopAnswering();
      abort();
      this.#stop.signal.removeEventListener("abort", abort);
    }
  }

  async #lead(signal: AbortSignal): Promise<boolean> {
    await this.#begin();
    this.#leads = true;
    this.#leader = "";
    this.#reporter.storeWorks();
    const { term } = this.#state.value;
    this.#reporter.tell("leading", `this coordinator leads, as number ${term} of the run.`);
    const { signals } = this.#prepared;
    this.#stopAnswering();
    this.#stopAnswering = signals.answer((client, sheet) => this.#service.answer(client, sheet));
    // Clients that have asked in vain listen by now.
    this.#state.announce();
    this.#presence.ask();
    while (this.#state.value.state !== "finished") {
      if (this.#state.value.state === "waiting" && !(await this.#open(signal))) return false;
      this.#verdicts = new Verdicts();
      const host = this.#host(this.#verdicts);
      const isSecure = this.#prepared.options.secure !== undefined;
      const collected = isSecure
        ? await (await import("./collect_securely.js")).collectSecurely(host, signal)
        : await collect(host, signal);
      if (signal.aborted) return false;
      if (collected !== null) await this.#closeRound(collected);
      this.#endVerdicts();
    }
    return true;
  }

  #endVerdicts(): void {
    this.#verdicts?.end();
    this.#verdicts = null;
  }

  /** Takes over the run: from now on, writes of the previous leader conflict. */
  async #begin(): Promise<void> {
    const { storage, options } = this.#prepared;
    // Read before the write that fences off others, so that all objects of a coordinator that takes over later are newer.
    const upTo = await storage.lastOfObjects();
    await this.#state.take((value) => {
      const rounds = Math.max(options.rounds, value.round);
      const goesOn = value.state === "finished" && rounds > value.round;
      const next = goesOn ? { state: "waiting" as const, round: value.round + 1, attempt: 1 } : {};
      return { ...value, rounds, term: value.term + 1, ...next };
    });
    await this.#loadWeights();
    const { progress, last } = this.#state.value;
    const stored = await storage.readObject(kWhere, progress);
    restoreProgress(stored, options.strategy, this.#accountant);
    const kept = [...objectsOf(this.#state.value), ...(await this.#candidate.wanted())];
    await storage.deleteObjectsBut(kept, upTo);
    await this.#candidate.load(this.#state.value, specOf(this.#global));
    if (last !== null) await this.#tidy(last);
  }

  async #loadWeights(): Promise<void> {
    const { storage, model } = this.#prepared;
    const bytes = await storage.readObject(kWhere, this.#state.value.weights);
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
    const opening = await waitForOpening({
      minClients: this.#prepared.options.minClients,
      deadline: this.#prepared.options.deadline,
      reporter: this.#reporter,
      wakeSignal: this.#wakeSignal,
      signal,
      control: () => this.#prepared.storage.readControl(),
      clients: () => this.clients.length,
      opening: () => this.#opening(0),
    });
    if (opening === "stopped") this.#stop.abort();
    if (opening === "stopped" || opening === null) return false;
    const before = this.#state.value;
    const followed = await this.#candidate.follow(before, specOf(this.#global));
    await this.#state.open({ ...(followed?.record ?? before), ...opening });
    if (followed !== null) {
      this.#reporter.tell(followed.type, followed.message);
      await this.#changedRevision(before);
    }
    const clients = opening.selected.length;
    this.#reporter.tell("opened", `the round has begun with ${clients} clients.`);
    return true;
  }

  /** Loads what clients train from now on, and deletes what they did before. */
  async #changedRevision(before: RunRecord): Promise<void> {
    const { value } = this.#state;
    const { storage, options } = this.#prepared;
    if (value.weights.name !== before.weights.name) {
      await this.#loadWeights();
      const progress = await storage.readObject(kWhere, value.progress);
      restoreProgress(progress, options.strategy, this.#accountant);
    }
    await this.#candidate.load(value, specOf(this.#global));
    await this.#deleteUnnamed(before);
  }

  /** Deletes the objects of an earlier record that the present one does not name. */
  async #deleteUnnamed(before: RunRecord): Promise<void> {
    const named = new Set(objectsOf(this.#state.value).map(({ name }) => name));
    const objects = objectsOf(before).filter(({ name }) => !named.has(name));
    await this.#prepared.storage.deleteObjects(objects);
  }

  /** The opening of the round with the clients that are present; null if they are too few. */
  #opening(attempt: number): Opening | null {
    const { options } = this.#prepared;
    return openingOf(options, this.#state.value, this.#presence.clients, attempt);
  }

  #host(verdicts: Verdicts): Host {
    const { options, storage, limits } = this.#prepared;
    return {
      options,
      storage,
      limits,
      presence: this.#presence,
      expected: this.#expected(this.#global, ownRevision(this.#state.value).name),
      candidate: this.#candidateExpected(),
      record: () => this.#state.current,
      reporter: this.#reporter,
      verdicts,
      left: () => this.#state.left,
      write: (record) => this.#state.write(record),
      opening: (attempt) => this.#opening(attempt),
    };
  }

  #candidateExpected(): Expected | null {
    const { rollout } = this.#state.value;
    const { weights } = this.#candidate;
    return rollout === undefined || weights === null ? null : this.#expected(weights, rollout.name);
  }

  #expected(weights: State, revision: string): Expected {
    return expectedOf(this.#prepared.options, this.#state.value, weights, revision);
  }

  /** Computes the next weights and commits them together with the names of the counted clients. */
  async #closeRound(collected: Collected): Promise<void> {
    const { storage, options } = this.#prepared;
    const { strategy, privacy } = options;
    const { value } = this.#state;
    const { round, sampling } = value;
    const made = collected.aggregate();
    const next = mapState(this.#global, (tensor, key) =>
      made !== null && Object.hasOwn(made, key) ? at(made, key) : tensor.clone(),
    );
    if (privacy !== undefined) this.#accountant.step({ ...privacy, ...sampling });
    const stamp = `${round}-${value.term}`;
    const evaluate = (weights: State, revision: string) => this.#evaluate(weights, revision);
    const rolled = await this.#candidate.close(collected.candidate, value, stamp, evaluate);
    const metrics = await this.#evaluate(next, ownRevision(value).name);
    const summary = summaryOf(value, {
      collected,
      metrics,
      time: this.#state.spent,
      epsilon: privacy && this.#accountant.epsilon(privacy.delta),
      rolled,
    });
    const weights = await storage.putObject(`weights-${stamp}`, eg.io.saveSafetensors(next));
    const progress = await storage.putObject(
      `progress-${stamp}`,
      encodeProgress(strategy, this.#accountant),
    );
    const fragment = await this.#nextFragment(next, made ?? {}, stamp);
    const stored = { weights, progress, fragment };
    await this.#state.write(recordAfter(value, summary, stored, rolled, options));
    free(this.#global);
    this.#global = next;
    this.#candidate.closed(rolled);
    options.onRound?.(summary);
    const updates = summary.clients.length;
    this.#reporter.tell("closed", endOf(summary, rolled), { updates });
    await this.#tidy(summary);
    await this.#deleteUnnamed(value);
  }

  /** Loads weights into the model, and returns their metrics. */
  async #evaluate(weights: State, revision: string): Promise<Record<string, number>> {
    const { options, model } = this.#prepared;
    model.loadStateDict(withoutControls(weights));
    const { round } = this.#state.value;
    const found = (await options.evaluate?.({ model, round, revision })) ?? {};
    if (areMetrics(Object.entries(found))) return found;
    return refuse(kWhere, "evaluate", "at most 64 finite numbers by short names", found);
  }

  /** The fragment of the next round, if rounds have fragments; stores what this round has changed. */
  async #nextFragment(next: State, made: State, stamp: string): Promise<Fragment | undefined> {
    const { storage, options } = this.#prepared;
    const keys = options.strategy.keysOf(next, this.#state.value.round + 1);
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
