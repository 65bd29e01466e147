// What the host offers, as it was when the package was imported: tests put fake timers in its place (sinon, vitest, jest), which stand
// still while a program awaits the engine. An AudioWorklet has none of it.

const nothing = () => undefined;

export const {
  setTimeout,
  clearTimeout,
  setInterval = nothing as unknown as typeof globalThis.setInterval,
  clearInterval = nothing,
  setImmediate,
  queueMicrotask = (run: () => void) => void Promise.resolve().then(run),
} = globalThis;

const { performance } = globalThis;
const { timeOrigin = 0, now: readClock = Date.now } = performance ?? {};

/** Milliseconds of a clock that never goes back, where the host has one. */
export const now = (): number => readClock.call(performance);

/** What the engine's scripts use. */
export const kTimers = { setTimeout, clearTimeout, performance: { timeOrigin, now } };
