// How a round is opened: when enough clients are there, and no operator has paused the run.

import type { WakeSignal } from "../../nats/waiting.js";
import type { Control } from "../names.js";
import type { RunRecord } from "../record.js";
import { firstStep } from "../secure/record.js";
import { kMostSecureClients } from "../secure/settings.js";
import type { Opening } from "./collected.js";
import type { Reporter } from "./events.js";
import type { ReadServeOptions } from "./options.js";
import { choose, sample } from "./selection.js";

const kPollMs = 1000;

/** Returns the fields of the record that open a round with some of the clients that are present; null if they are too few. */
export function openingOf(
  options: ReadServeOptions,
  record: RunRecord,
  present: readonly string[],
  attempt: number,
): Opening | null {
  const { minClients, clientsPerRound, deadline, seed, privacy, secure } = options;
  const excluded = new Set(record.secure?.excluded);
  const clients = present.filter((client) => !excluded.has(client));
  if (clients.length < minClients) return null;
  const most = secure === undefined ? clients.length : kMostSecureClients;
  const count = Math.min(clientsPerRound ?? clients.length, clients.length, most);
  const times = record.secure?.attempt ?? record.attempt - 1;
  const from = `${seed} ${record.round} ${times} ${attempt}`;
  const probability = count / clients.length;
  // The epsilon of a private run holds only if others cannot predict which clients take part.
  const selected =
    privacy === undefined
      ? choose(clients, count, from)
      : sample(clients, probability, globalThis.crypto.randomUUID());
  return {
    state: "open" as const,
    selected,
    sampling: { probability, expected: count },
    extensions: 0,
    deadline: secure?.handshake ?? deadline,
    ...(record.secure && { secure: { ...record.secure, step: firstStep(selected) } }),
  };
}

/** The part of the coordinator that waiting uses. */
export interface OpeningHost {
  readonly minClients: number;
  /** The milliseconds after which waiting is a stall. */
  readonly deadline: number;
  readonly reporter: Reporter;
  readonly wakeSignal: WakeSignal;
  readonly signal: AbortSignal;
  /** What an operator wants. */
  control(): Promise<Control>;
  /** The number of clients that are present. */
  clients(): number;
  opening(): Opening | null;
}

/** Resolves when a round can be opened; to "stopped" if an operator has stopped the run, to null when the signal is aborted. */
export async function waitForOpening(host: OpeningHost): Promise<Opening | "stopped" | null> {
  const { minClients, deadline, reporter, wakeSignal, signal } = host;
  const began = performance.now();
  const told = new Set<string>();
  const tellOnce = (type: "paused" | "waiting" | "stalled", message: string) => {
    if (!told.has(type)) reporter.tell(type, message);
    told.add(type);
  };
  while (!signal.aborted) {
    const control = await host.control();
    if (control === "stopped") {
      reporter.tell("stopped", "an operator has stopped the run.");
      return "stopped";
    }
    if (control === "paused") {
      tellOnce("paused", "an operator has paused the run.");
    } else {
      const opening = host.opening();
      if (opening !== null) return opening;
      const isLong = performance.now() - began > deadline;
      const message = `${host.clients()} of at least ${minClients} clients are there.`;
      tellOnce(isLong ? "stalled" : "waiting", message);
    }
    await wakeSignal.wait(kPollMs, signal);
  }
  return null;
}
