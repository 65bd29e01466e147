// Which failures the content of a block has inherited (README.md, "Errors").

import type { PlayerError } from "./errors";

/** A failure that has happened, or a check on the device whose outcome the host does not know yet. */
export interface Fault {
  /** The number of its status words; 0 if it has none. */
  readonly slot: number;
  /** The op that it belongs to. */
  readonly op: string;
  /** What the check expects; the message ends with the position of the wrong element. Absent for an index that is out of range. */
  readonly rule?: string | undefined;
  /** Set once the failure is known to have happened. */
  error: PlayerError | undefined;
  /** Whether the host knows the outcome. */
  isSettled: boolean;
}

/** The faults of a block: one that has happened, or all that may have happened. */
export type Faults = readonly Fault[];

export const kNoFaults: Faults = [];

/** Returns the fault of an error that is known. */
export function faultOf(error: PlayerError): Fault {
  return { slot: 0, op: error.op, error, isSettled: true };
}

/** Leaves out what has not happened. If one has happened, the others do not matter. */
export function current(faults: Faults): Faults {
  if (faults.length === 0) return faults;
  const happened = faults.find(({ error }) => error !== undefined);
  if (happened !== undefined) return faults.length === 1 ? faults : [happened];
  return faults.some(({ isSettled }) => isSettled)
    ? faults.filter(({ isSettled }) => !isSettled)
    : faults;
}

/** Returns the current faults of both; those of the first one come first. */
export function union(first: Faults, second: Faults): Faults {
  const a = current(first);
  const b = current(second);
  if (b.length === 0 || a === b || errorOf(a) !== undefined) return a;
  if (a.length === 0 || errorOf(b) !== undefined) return b;
  const more = b.filter((fault) => !a.includes(fault));
  return more.length === 0 ? a : [...a, ...more];
}

/** Returns the error of the fault that has happened, if any. */
export function errorOf(faults: Faults): PlayerError | undefined {
  return faults.find(({ error }) => error !== undefined)?.error;
}
