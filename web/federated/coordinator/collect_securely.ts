// A round in which the coordinator sees only the sum of the updates (Bonawitz et al. 2017). Each of its four steps ends with a write of
// the record. If too many clients leave, the attempt fails and the round is opened again.

import { WakeSignal } from "../../nats/waiting.js";
import { clientIn } from "../names.js";
import { Answers, type Step, Unreadable } from "../secure/answers.js";
import { fromIntegers, integersOf, type Mean } from "../secure/fixed_point.js";
import { decodeAllShares, decodePeers, encodeAllShares, encodePeers } from "../secure/messages.js";
import { kPhases, type Phase } from "../secure/phases.js";
import type { SecureRecord, SecureStep } from "../secure/record.js";
import {
  type ReadSecureAggregation,
  type SecureSettings,
  thresholdOf,
} from "../secure/settings.js";
import { refusal } from "../update/decode.js";
import { aggregate } from "./aggregate.js";
import type { Collected, Host } from "./collected.js";
import { watchSilence } from "./silence.js";

const kMostFailures = 16;

/** Leads the clients of an open round through its steps; returns null if the attempt has failed, after writing that to the record. */
export async function collectSecurely(host: Host, signal: AbortSignal): Promise<Collected | null> {
  return new SecureRound(host, await Attempt.restore(host)).run(signal);
}

/** An attempt at a secure round. */
class Attempt {
  private constructor(
    readonly answers: Answers,
    readonly settings: SecureSettings,
    public step: Step,
  ) {}

  static async restore({ record, storage, expected, options, limits }: Host): Promise<Attempt> {
    const { round, client, secure } = record().value;
    const { attempt, step } = secure as SecureRecord;
    const { phase, clients, peers: keys, shares: given } = step as SecureStep;
    const read = async (object: typeof keys) => object && storage.readObject("serve", object);
    const keyBytes = await read(keys);
    const peers = keyBytes && decodePeers(keyBytes);
    const shareBytes = await read(given);
    const shares = shareBytes && decodeAllShares(shareBytes, peers?.peers.length ?? 0);
    const restored = { phase, clients, peers, shares };
    const session = { run: options.names.run, round, attempt };
    const answers = new Answers(session, limits, integersOf(expected.spec), restored);
    return new Attempt(answers, client.secure as SecureSettings, restored);
  }

  go(step: Step): void {
    this.step = step;
    this.answers.go(step);
  }
}

class SecureRound {
  readonly #wakeSignal = new WakeSignal();
  #isUpToDate = false;

  constructor(
    private readonly host: Host,
    private readonly attempt: Attempt,
  ) {}

  async run(signal: AbortSignal): Promise<Collected | null> {
    const { storage, presence } = this.host;
    const { answers } = this.attempt;
    const end = new AbortController();
    const abort = () => end.abort();
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    const reading = storage.readUpdates(
      end.signal,
      presence.sent,
      async (message) => {
        const reason = await answers.receive(message);
        if (reason !== null) {
          const client = clientIn(message.subject);
          this.host.reporter.tell("refused", `${refusal(reason).message}.`, { client, reason });
        }
        if (answers.isComplete) this.#wakeSignal.wake();
      },
      () => {
        if (!this.#isUpToDate) this.#wakeSignal.wake();
        this.#isUpToDate = true;
      },
    );
    const missing = () => {
      const answered = new Set(answers.answered);
      return this.attempt.step.clients.filter((client) => !answered.has(client));
    };
    void watchSilence(this.host, missing, end.signal);
    const steps = this.#steps(end.signal);
    try {
      // Reading ends before the steps only if it fails.
      await Promise.race([reading, steps]);
      return await steps;
    } finally {
      abort();
      signal.removeEventListener("abort", abort);
      await Promise.allSettled([reading, steps]);
    }
  }

  async #steps(signal: AbortSignal): Promise<Collected | null> {
    while (!signal.aborted) {
      await this.#waitForAnswers(signal);
      if (signal.aborted) return null;
      this.attempt.answers.close();
      try {
        if (this.attempt.step.phase === "unmask") return await this.#finish();
        await this.#next();
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        await this.#fail(error);
        return null;
      }
    }
    return null;
  }

  /** Resolves when all clients have answered or the deadline has passed. */
  async #waitForAnswers(signal: AbortSignal): Promise<void> {
    const { answers } = this.attempt;
    while (!signal.aborted && !answers.isComplete) {
      const left = this.host.left();
      if (left <= 0 && this.#isUpToDate) return;
      await this.#wakeSignal.wait(Math.max(left, 1), signal);
    }
  }

  /** Ends a step and begins the next one with the clients that have answered. */
  async #next(): Promise<void> {
    const { storage, options } = this.host;
    const { answers, step } = this.attempt;
    const { value } = this.host.record();
    const { threshold: share, handshake } = options.secure as ReadSecureAggregation;
    const clients = answers.answered;
    const threshold =
      step.peers?.threshold ?? thresholdOf(clients.length, share, options.minUpdates);
    if (clients.length < threshold) {
      const found = `${clients.length} of ${step.clients.length} clients`;
      throw new Unreadable(
        `${found} have answered the step "${step.phase}", and ${threshold} are needed`,
        null,
      );
    }
    const phase = kPhases[kPhases.indexOf(step.phase) + 1] as Phase;
    const { attempt } = value.secure as SecureRecord;
    const put = (name: string, bytes: Uint8Array) =>
      storage.putObject(`${name}-${value.round}-${attempt}-${value.term}`, bytes);
    const before = value.secure?.step as SecureStep;
    let { peers, shares } = before;
    let next: Step = { ...step, phase, clients };
    if (step.phase === "keys") {
      const keys = { threshold, peers: answers.keys };
      peers = await put("keys", encodePeers(keys));
      next = { ...next, peers: keys };
    } else if (step.phase === "shares") {
      shares = await put("shares", encodeAllShares(answers.shares));
      next = { ...next, shares: answers.shares };
    }
    const time = phase === "masked" ? options.deadline : handshake;
    await this.host.write({
      ...value,
      deadline: time,
      secure: {
        ...(value.secure as SecureRecord),
        step: { phase, clients, peers, shares, bytes: answers.bytes },
      },
    });
    this.attempt.go(next);
  }

  async #finish(): Promise<Collected> {
    const { host } = this;
    const { expected, options } = host;
    const { answers, step } = this.attempt;
    const integers = await answers.sum();
    const mean = this.#meanOf(integers);
    const { samples } = mean;
    const before = host.record().value.secure?.step?.bytes ?? 0;
    return {
      clients: step.clients,
      samples,
      metrics: {},
      refused: answers.refused,
      bytes: Math.max(answers.bytes, before),
      readTo: answers.readTo,
      candidate: null,
      aggregate: () => {
        const update = () => [{ client: "", samples, weights: mean.addTo(expected.global) }];
        return aggregate(options.strategy, update, expected);
      },
    };
  }

  #meanOf(integers: Uint32Array): Mean {
    const { expected } = this.host;
    const { settings, step } = this.attempt;
    const count = step.shares?.length ?? 0;
    const { spec, mostNorm } = expected;
    const mean = fromIntegers(integers, spec, step.clients.length, count, settings);
    if (mean === null) throw new Unreadable("the sum is not one of valid updates", null);
    if (mean.norm <= mostNorm) return mean;
    throw new Unreadable(
      `the mean is ${mean.norm} from the round's weights, beyond limits.norm`,
      null,
    );
  }

  /** Ends the attempt, so that the round is opened again. */
  async #fail({ message, client }: Unreadable): Promise<void> {
    const { storage, options } = this.host;
    const { value } = this.host.record();
    const { attempt, failures, excluded, step } = value.secure as SecureRecord;
    const { round } = value;
    await this.host.write({
      ...value,
      state: "waiting",
      selected: [],
      secure: {
        attempt: attempt + 1,
        failures: [...failures, message].slice(-kMostFailures),
        excluded: client === null ? excluded : [...new Set([...excluded, client])].sort(),
        step: null,
      },
    });
    options.onFailure?.({ round, attempt, message });
    const about = client === null ? {} : { client };
    this.host.reporter.tell("givenUp", `attempt ${attempt}: ${message}.`, about);
    await storage.deleteUpdates(this.attempt.answers.readTo);
    const objects = [step?.peers ?? null, step?.shares ?? null].filter((object) => object !== null);
    await storage.deleteObjects(objects);
  }
}
