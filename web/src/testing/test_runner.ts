import { tensorsAreEqual } from "./tensors_are_equal.js";

/** Where vitest and Jest both keep what expect.addEqualityTesters() was given. */
const kRunnerState = Symbol.for("$$jest-matchers-object");

interface RunnerState {
  readonly customEqualityTesters?: unknown;
}

/** Makes expect() compare tensors, if the program is a test of vitest or Jest. */
export function compareInTestRunner(): void {
  const { [kRunnerState]: state } = globalThis as { [kRunnerState]?: RunnerState };
  const testers = state?.customEqualityTesters;
  if (Array.isArray(testers)) testers.push(tensorsAreEqual);
}
