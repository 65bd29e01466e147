// Runs programs of the stress fuzzer on an engine and checks invariants afterwards: every promise settles, gradients equal
// those of a sequential run, errors have known codes, and the engine holds the same resources as before.

import { collectGarbageOnce } from "../../js/support/collect_garbage.mjs";
import { Problem, problemOfError } from "../oracle.mjs";
import { Random } from "../random.mjs";
import { kActions } from "./actions.mjs";

const kWorker = new URL("worker.mjs", import.meta.url);

/** A promise that has not settled after this time hangs, also on a busy machine. */
const kSettleSeconds = 90;

const kHeld = ["tensors", "storages", "graphNodes", "jsHandles"];
/** What is still held after this time is a leak. */
const kReleaseSeconds = 10;
// Each thread collects its own garbage.
const kCollectionsPerRoundOfWorkers = 15;
const kMostWorkers = 8;
const kRunsOfLeak = 3;

/** A worker whose function is aborted is terminated after at most this time. */
const kLongestLife = 40; // ms
const kKilled = "the worker was killed";

/** Runs programs on the running engine, which it may stop and restart. */
export class StressRunner {
  #eg;
  #options;
  #device;
  #pending = [];
  #problem = null;
  #hasRestarted = false;
  #spawned = 0;

  constructor(eg, options, device) {
    this.#eg = eg;
    this.#options = options;
    this.#device = device;
  }

  /** Resolves to the first Problem of a program, or null. */
  async run(lines, onLine = () => {}) {
    const before = this.#held();
    await this.#runOnce(lines, onLine);
    const problem = this.#problem ?? (await this.#leakSince(before));
    if (problem?.kind !== "leak") return problem;
    // Memory that is allocated once and cached is not a leak.
    for (let run = 0; run < kRunsOfLeak; run++) {
      const again = this.#held();
      await this.#runOnce(lines, onLine);
      if (this.#problem !== null || (await this.#leakSince(again)) === null) return this.#problem;
    }
    return problem;
  }

  async #runOnce(lines, onLine) {
    this.#problem = null;
    this.#hasRestarted = lines.some(({ kind }) => kind.startsWith("restart"));
    let world = this.#newWorld();
    for (const line of lines) {
      onLine(line);
      if (line.kind === "settle") await this.#settle();
      else if (line.kind.startsWith("restart")) world = await this.#restart(line);
      else {
        const done = this.#begin(line, world);
        // It is awaited later.
        done.catch(() => undefined);
        this.#pending.push({ line, done });
        if (line.kind === "await") await this.#settleOne({ line, done });
      }
      if (this.#problem !== null) break;
    }
    await this.#settle();
  }

  // Creates tensors that all threads read, and one that they modify.
  #newWorld() {
    const eg = this.#eg;
    const device = this.#device;
    eg.manualSeed(3);
    const matrix = () => eg.rand([4, 4], { device });
    const weight = matrix().requiresGrad_();
    return { eg, device, shared: [matrix(), matrix(), matrix()], weight };
  }

  async #restart(line) {
    const eg = this.#eg;
    const stopped = eg.shutdown();
    let world = null;
    const restarted = async () => {
      if (line.kind === "restart") await stopped;
      await eg.init(this.#options);
      await stopped;
      this.#spawned = 0;
      world = this.#newWorld();
    };
    await this.#settleOne({ line, done: restarted() });
    return world;
  }

  async #begin({ kind, name, seed }, world) {
    const { shared, weight, device } = world;
    const isHere = kind !== "spawn" && kind !== "kill";
    if (isHere || this.#eg.runtime().variant === "single") {
      return kActions[name](world, new Random(seed));
    }
    this.#spawned++;
    const given = [kWorker, "act", name, seed, { device, shared, weight }];
    if (kind === "kill") return this.#killed(given, new Random(seed));
    const wrong = await this.#eg.spawn(...given);
    if (wrong !== null) throw new Problem(wrong.kind, `in a worker: ${wrong.message}`);
    return undefined;
  }

  // Terminates the worker at any moment of its function, unless that is faster.
  async #killed(given, random) {
    const controller = new AbortController();
    const time = random.int(kLongestLife);
    const timer = setTimeout(() => controller.abort(kKilled), time); // timer: the moment is random
    try {
      await this.#eg.spawn(...given, { signal: controller.signal });
    } catch (error) {
      if (error !== kKilled) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #settle() {
    for (const one of this.#pending.splice(0)) await this.#settleOne(one);
  }

  async #settleOne({ line, done }) {
    let timer;
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, kSettleSeconds * 1000, "late"); // timer: only a hang takes as long
    });
    try {
      if ((await Promise.race([done, tooLate])) === "late") {
        this.#note(new Problem("hang", `not settled after ${kSettleSeconds} s`), line, true);
      }
    } catch (error) {
      this.#note(this.#problemOf(error, this.#hasRestarted && line.name !== undefined), line);
    } finally {
      clearTimeout(timer);
    }
  }

  #problemOf(error, mayEnd) {
    if (error instanceof Problem) return error;
    // Calls in progress may fail when the engine stops.
    if (mayEnd && error instanceof this.#eg.EdgeGradError) return null;
    return problemOfError(this.#eg, error) ?? new Problem("error", String(error?.stack ?? error));
  }

  #note(problem, { text }, isFatal = false) {
    if (problem === null || this.#problem !== null) return;
    problem.line = text;
    problem.isFatal ||= isFatal;
    this.#problem = problem;
  }

  async #collectInWorkers() {
    const count = Math.min(this.#spawned, kMostWorkers);
    await Promise.all(Array.from({ length: count }, () => this.#eg.spawn(kWorker, "collect")));
  }

  #held() {
    const memory = this.#eg.memory();
    return kHeld.map((name) => memory[name]);
  }

  // Threads release resources only when they are scheduled.
  async #leakSince(before) {
    const end = performance.now() + kReleaseSeconds * 1000;
    for (let round = 0; ; round++) {
      const after = this.#held();
      if (after.every((count, i) => count <= before[i])) return null;
      if (performance.now() > end) {
        const counts = kHeld.map((name, i) => `${name} ${before[i]}, then ${after[i]}`);
        return new Problem("leak", counts.join("; "));
      }
      await collectGarbageOnce();
      if (round % kCollectionsPerRoundOfWorkers === 2) await this.#collectInWorkers();
      await new Promise((resolve) => setTimeout(resolve, 5)); // timer: threads say nothing when they release
    }
  }
}
