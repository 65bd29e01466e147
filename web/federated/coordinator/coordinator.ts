// The coordinator of a run. The README.md in the parent folder describes what is stored where, and how a coordinator resumes a run.

import * as eg from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { isConflict, isTransient } from "../../nats/failures.js";
import { sleep, WakeSignal } from "../../nats/waiting.js";
import { answerWith, kRevisionHeader, kSignatureHeader, type Sheet } from "../asks.js";
import { digestOf } from "../digest.js";
import type { Revised } from "../nats/storage.js";
import { kPresenceMs } from "../presence_messages.js";
import { RdpAccountant } from "../privacy/accountant.js";
import {
  type Fragment,
  type KeptRound,
  objectsOf,
  type RoundSummary,
  type RunRecord,
} from "../record.js";
import { firstStep, kFirstSecureRecord } from "../secure/record.js";
import { kMostSecureClients } from "../secure/settings.js";
import { type Sign, textOfRecord } from "../signatures.js";
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
import { Reporter } from "./events.js";
import type { Known } from "./known.js";
import { Lease } from "./lease.js";
import type { ReadServeOptions } from "./options.js";
import { Presence } from "./presence.js";
import { encodeProgress, restoreProgress } from "./progress.js";
import { choose, sample } from "./selection.js";
import { Service } from "./service.js";
import { Verdicts } from "./verdicts.js";

const kWhere = "serve";
const kRetryMs = 250;
const kPollMs = 1000;
const kUsualNorm = 100;
const kUsualSamples = 1e9;
const kUsualClients = 10_000;
// Clients that have missed the end of a run are told of it for this long.
const kLingerMs = 2 * kPresenceMs;

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
  #record: Revised<RunRecord>;
  #global: State = {};
  #leads = false;
  #leader = "";
  readonly #reporter: Reporter;
  readonly #service: Service;
  #stopAnswering = () => {};
  #verdicts: Verdicts | null = null;
  #sheet: Sheet = answerWith("none");
  /** When the round was opened and when its deadline is, by performance.now(). */
  #opened = 0;
  #deadline = 0;

  /** @internal */
  constructor(prepared: Prepared, id: string) {
    const { options, signals, storage, record } = prepared;
    this.#prepared = prepared;
    this.#record = record;
    this.#global = stateOf(prepared.model);
    this.#lease = new Lease(storage, id, options.lease);
    const most = options.limits.clients ?? kUsualClients;
    const { known } = prepared;
    const isKnown = (client: string) => known.isKnown(client);
    this.#presence = new Presence(signals, most, this.#wakeSignal, isKnown);
    this.#reporter = new Reporter(options.names.run, options.onEvent, () => this.round);
    this.#service = new Service({
      storage,
      signals,
      presence: this.#presence,
      reporter: this.#reporter,
      verify: known.verify,
      isKnown,
      record: () => this.#record.value,
      sheet: () => this.#sheet,
      verdicts: () => this.#verdicts,
    });
    const run = this.#run();
    const closed = run.then((history) => this.#linger(history)).finally(() => this.#close());
    this.#done = closed.catch(() => {});
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
            return await this.#history();
          }
          if (!signal.aborted) this.#reporter.tell("deposed", "the lease could not be renewed.");
        } catch (error) {
          if (error instanceof FinishedElsewhere) return await this.#history();
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
    return this.#history();
  }

  /** Updates what a standby knows of the run. */
  async #look(holder: string): Promise<void> {
    if (holder !== this.#leader) this.#reporter.tell("standby", `${holder} leads.`);
    this.#leader = holder;
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
      this.#endVerdicts();
      if (this.#record.value.state !== "finished") this.#stopAnswering();
      abort();
      this.#stop.signal.removeEventListener("abort", abort);
    }
  }

  async #lead(signal: AbortSignal): Promise<boolean> {
    await this.#begin();
    this.#leads = true;
    this.#leader = "";
    this.#reporter.storeWorks();
    const { term } = this.#record.value;
    this.#reporter.tell("leading", `this coordinator leads, as number ${term} of the run.`);
    const { signals } = this.#prepared;
    this.#stopAnswering();
    this.#stopAnswering = signals.answer((client, sheet) => this.#service.answer(client, sheet));
    // Clients that have asked in vain listen by now.
    signals.announce(this.#sheet);
    this.#presence.ask();
    while (this.#record.value.state !== "finished") {
      if (this.#record.value.state === "waiting" && !(await this.#open(signal))) return false;
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
    const record = (await storage.readRecord()) ?? (await this.#restore());
    const { value } = record;
    // Both times are the server's: this machine's clock need not agree with that of the coordinator before.
    const now = (await storage.readLease())?.time ?? record.time;
    const elapsed = value.state === "open" ? Math.max(0, now - record.time) : 0;
    this.#opened = performance.now() - value.spent - elapsed;
    const rounds = Math.max(options.rounds, value.round);
    const goesOn = value.state === "finished" && rounds > value.round;
    this.#record = record;
    await this.#write(
      {
        ...value,
        rounds,
        term: value.term + 1,
        deadline: Math.max(0, value.deadline - elapsed),
        ...(goesOn ? { state: "waiting", round: value.round + 1, attempt: 1 } : {}),
      },
      { isSilent: true },
    );
    await this.#loadWeights();
    const { progress, last } = this.#record.value;
    const stored = await storage.readObject(kWhere, progress);
    restoreProgress(stored, options.strategy, this.#accountant);
    await storage.deleteObjectsBut(objectsOf(this.#record.value), upTo);
    if (last !== null) await this.#tidy(last);
  }

  /** Writes the record again that this coordinator knows: a server without room may have lost it. */
  async #restore(): Promise<Revised<RunRecord>> {
    const { storage } = this.#prepared;
    await storage.createRecord(this.#record.value);
    const record = await storage.readRecord();
    return record ?? fail("DeviceLost", kWhere, "the server does not keep the record of the run.");
  }

  /** Replaces the record, signs it, and sends it to all clients. */
  async #write(record: RunRecord, { isSilent = false } = {}): Promise<void> {
    const { storage, signals, sign, options } = this.#prepared;
    const spent = record.state === "open" ? Math.round(performance.now() - this.#opened) : 0;
    const value = { ...record, spent };
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    // Before the write: after it, clients may answer at once.
    const digest = await digestOf(bytes);
    const revision = await storage.writeRecord(value, this.#record.revision);
    this.#record = { value, revision, time: 0 };
    this.#deadline = performance.now() + value.deadline;
    const text = textOfRecord(options.names.run, `${revision}`, digest);
    const headers = {
      [kRevisionHeader]: `${revision}`,
      ...(sign && { [kSignatureHeader]: sign(text) }),
    };
    this.#sheet = answerWith("ok", headers, bytes);
    if (!isSilent) signals.announce(this.#sheet);
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
    const { minClients, deadline } = this.#prepared.options;
    const began = performance.now();
    let told: "" | "waiting" | "stalled" = "";
    let isPaused = false;
    while (!signal.aborted) {
      const control = await this.#prepared.storage.readControl();
      if (control === "stopped") {
        this.#reporter.tell("stopped", "an operator has stopped the run.");
        this.#stop.abort();
        return false;
      }
      if (control === "paused") {
        if (!isPaused) this.#reporter.tell("paused", "an operator has paused the run.");
        isPaused = true;
        await this.#wakeSignal.wait(kPollMs, signal);
        continue;
      }
      const opening = this.#opening(0);
      if (opening !== null) {
        this.#opened = performance.now();
        await this.#write({ ...this.#record.value, ...opening });
        const clients = opening.selected.length;
        this.#reporter.tell("opened", `the round has begun with ${clients} clients.`);
        return true;
      }
      const message = `${this.clients.length} of at least ${minClients} clients are there.`;
      if (told === "") this.#reporter.tell("waiting", message);
      told ||= "waiting";
      if (told === "waiting" && performance.now() - began > deadline) {
        this.#reporter.tell("stalled", message);
        told = "stalled";
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
    const times = record.secure?.attempt ?? record.attempt - 1;
    const from = `${seed} ${record.round} ${times} ${attempt}`;
    const probability = count / clients.length;
    const selected =
      privacy === undefined
        ? choose(clients, count, from)
        : sample(clients, probability, unguessable());
    return {
      state: "open" as const,
      selected,
      sampling: { probability, expected: count },
      extensions: 0,
      deadline: secure?.handshake ?? deadline,
      ...(record.secure && { secure: { ...record.secure, step: firstStep(selected) } }),
    };
  }

  #host(verdicts: Verdicts): Host {
    const { options, storage, limits } = this.#prepared;
    return {
      options,
      storage,
      limits,
      presence: this.#presence,
      expected: this.#expected(),
      record: () => this.#record,
      reporter: this.#reporter,
      verdicts,
      left: () => this.#deadline - performance.now(),
      write: (record) => this.#write(record),
      opening: (attempt) => this.#opening(attempt),
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
  async #closeRound(collected: Collected): Promise<void> {
    const { storage, options, model } = this.#prepared;
    const { strategy, privacy } = options;
    const { value } = this.#record;
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
      time: Math.round(performance.now() - this.#opened),
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
    const kept = this.#keptWith({ round, weights, progress, summary });
    const isLast = round >= value.rounds;
    const following: RunRecord = {
      ...value,
      state: isLast ? "finished" : "waiting",
      round: isLast ? round : round + 1,
      attempt: 1,
      extensions: 0,
      weights,
      progress,
      fragment,
      ...(secure && { secure: { ...kFirstSecureRecord, excluded: secure.excluded } }),
      kept,
      last: summary,
    };
    await this.#write(following);
    free(this.#global);
    this.#global = next;
    options.onRound?.(summary);
    const { length } = clients;
    this.#reporter.tell("closed", `round ${round} has ended with ${length} updates.`, {
      updates: length,
    });
    await this.#tidy(summary);
    const named = new Set(objectsOf(following).map(({ name }) => name));
    await storage.deleteObjects(objectsOf(value).filter(({ name }) => !named.has(name)));
  }

  /** The rounds that are kept, with one more. */
  #keptWith(next: KeptRound): readonly KeptRound[] {
    const { keepRounds } = this.#prepared.options;
    return keepRounds === 0 ? [] : [...this.#record.value.kept, next].slice(-keepRounds);
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
