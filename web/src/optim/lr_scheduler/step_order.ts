// A warning for schedulers whose step() is called before that of the optimizer, which skips the first learning rate.

import { isDue } from "../../runtime/errors/once.js";

const watched = new WeakSet<object>();
const stepped = new WeakSet<object>();
const once = { done: false };

/** Notes the first step of an optimizer, by a step() in the place of its own until then. */
export function watchFirstStep(given: object): void {
  const optimizer: { step?: unknown } = given;
  const { step } = optimizer;
  if (typeof step !== "function" || watched.has(optimizer)) return;
  watched.add(optimizer);
  const before = Object.getOwnPropertyDescriptor(optimizer, "step");
  const value = (...given: unknown[]): unknown => {
    stepped.add(optimizer);
    // Something else may have taken this one's place.
    if (optimizer.step === value) {
      delete optimizer.step;
      if (before !== undefined) Object.defineProperty(optimizer, "step", before);
    }
    return step.apply(optimizer, given);
  };
  Object.defineProperty(optimizer, "step", { value, writable: true, configurable: true });
}

/** Warns, once, if the optimizer of a scheduler that now makes its first step has made none. */
export function checkStepOrder(where: string, optimizer: object): void {
  if (!watched.has(optimizer) || stepped.has(optimizer) || !isDue(once)) return;
  console.warn(
    `edgegrad: [${where}] was called before step() of the optimizer, which skips the first learning rate of the schedule. Call ` +
      "optimizer.step() first, then scheduler.step().",
  );
}
