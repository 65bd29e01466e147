// A program: lines of JavaScript that use `eg` and earlier results as v.t0, v.t1, ... Lines are run as they are added,
// and the oracle checks each of them.

import { cpuSeconds } from "../js/support/cpu_time.mjs";
import {
  difference,
  kMaxElements,
  kMaxSeconds,
  Problem,
  problemOfEngine,
  problemOfError,
  problemOfModes,
  problemOfTensor,
  snapshot,
} from "./oracle.mjs";

const AsyncFunction = (async () => {}).constructor;

export class Program {
  /** The lines so far, { text, mayChange }: with mayChange, a line may modify earlier results. */
  lines = [];
  /** The texts of tensors that later lines can use. */
  tensors = [];
  /** The first problem that was found, or null. */
  problem = null;
  calls = 0;
  #values = {};
  #known = new Map();

  /** With `isScoped`, each line that creates a tensor frees its intermediate results. */
  constructor(eg, { isScoped = false, onLine = () => {}, onError = () => {}, faults = null } = {}) {
    this.eg = eg;
    this.isScoped = isScoped;
    this.onLine = onLine;
    this.onError = onError;
    this.faults = faults;
  }

  isTensor(text) {
    return this.tensors.includes(text);
  }

  /** Runs an expression that creates a tensor; returns its name, which refers to undefined if the expression failed. */
  make(text) {
    this.run(this.isScoped ? `eg.scope(() => ${text})` : text);
    return `v.t${this.lines.length - 1}`;
  }

  /** Runs a line; returns its result, or undefined after an error. */
  run(text, { mayChange = false } = {}) {
    const call = this.#begin(text, mayChange);
    if (call === null) return undefined;
    try {
      return this.#end(call, call.fn(this.eg, this.#values, this.faults));
    } catch (error) {
      return this.#fail(call, error);
    }
  }

  /** Runs a line that uses await. */
  async runAsync(text, { mayChange = false } = {}) {
    const call = this.#begin(text, mayChange);
    if (call === null) return undefined;
    try {
      return this.#end(call, await call.fn(this.eg, this.#values, this.faults));
    } catch (error) {
      return this.#fail(call, error);
    }
  }

  /** Returns whether a line returned a value. */
  hasValue(name) {
    return this.#values[name] !== undefined && this.#values[name] !== null;
  }

  /** Frees the tensors that lines returned, and forgets everything else. */
  end() {
    if (this.problem?.isFatal) return;
    for (const value of Object.values(this.#values)) {
      for (const tensor of tensorsIn(this.eg, value)) {
        breakCycles(tensor);
        tensor.dispose();
      }
    }
    this.#values = {};
    this.#known.clear();
  }

  // Replacements can produce a line that is not valid JavaScript; it is skipped by returning null.
  #begin(text, mayChange) {
    const name = `t${this.lines.length}`;
    this.lines.push({ text, mayChange });
    this.onLine(text);
    const fn = compile(text);
    if (fn === null) return null;
    this.calls++;
    return { name, fn, mayChange, start: cpuSeconds(), isOver: false };
  }

  #end(call, value) {
    // Errors thrown from here on come from the oracle.
    call.isOver = true;
    this.#checkTime(call);
    this.#values[call.name] = value;
    closeGuard(this.eg, value);
    this.#checkKnown(!call.mayChange);
    const found = tensorsIn(this.eg, value);
    for (const tensor of found) this.#report(problemOfTensor(this.eg, tensor, this.#mayReachOut()));
    this.#admit(call.name, value);
    this.#report(problemOfModes(this.eg));
    return value;
  }

  #fail(call, error) {
    if (call.isOver) throw error;
    this.onError(error);
    this.#checkTime(call);
    const problem = problemOfError(this.eg, error);
    this.#report(problem);
    if (problem?.isFatal) return undefined;
    this.#report(problemOfEngine(this.eg));
    this.#checkKnown(true);
    this.#report(problemOfModes(this.eg));
    return undefined;
  }

  // A detached view is a base itself, and asStrided() may use its storage beyond the view.
  #mayReachOut() {
    return this.lines.at(-1).text.includes("asStrided") && this.lines.some(isDetaching);
  }

  #checkTime({ start }) {
    const seconds = cpuSeconds() - start;
    if (seconds > kMaxSeconds) this.#report(new Problem("hang", `took ${seconds.toFixed(1)} s`));
  }

  #report(problem) {
    if (this.problem !== null || problem === null) return;
    this.problem = problem;
    problem.line = this.lines.at(-1).text;
  }

  // Registers tensors that later lines may use, with their current contents.
  #admit(name, value) {
    const list = Array.isArray(value) ? value : [value];
    list.slice(0, 4).forEach((one, i) => {
      if (!(one instanceof this.eg.Tensor) || !isUsable(one) || one.numel > kMaxElements) return;
      // Most ops refuse sparse tensors, and a snapshot reads all elements.
      if (one.isSparse) return;
      const text = Array.isArray(value) ? `v.${name}[${i}]` : `v.${name}`;
      if (!this.#known.has(one)) this.tensors.push(text);
      this.#known.set(one, { text, state: snapshot(one) });
    });
  }

  // Checks that all tensors so far are unchanged; after a call that may change them, records their new contents.
  #checkKnown(mustBeSame) {
    for (const [tensor, known] of this.#known) {
      const now = snapshot(tensor);
      const changed = mustBeSame && difference(known.state, now);
      if (changed)
        this.#report(new Problem("changed operand", `${known.text.slice(2)}: ${changed}`));
      known.state = now;
    }
  }
}

// As in PyTorch, a gradient that was computed with createGraph references its own leaf, and a saved tensor that was
// then modified in place by a result computed from it references itself.
function breakCycles(tensor) {
  if (!tensor.requiresGrad) return;
  if (tensor.isLeaf) tensor.grad = null;
  else if (!tensor.isView) tensor.detach_();
}

function compile(text) {
  const Compiled = text.startsWith("await ") ? AsyncFunction : Function;
  try {
    return new Compiled("eg", "v", "faults", `return ${text}`);
  } catch {
    return null;
  }
}

function isDetaching({ text }) {
  return text.includes("detach") || text.includes("Mode(");
}

function closeGuard(eg, value) {
  if (value instanceof eg.Tensor || typeof value !== "object" || value === null) return;
  const dispose = value[Symbol.dispose ?? Symbol.for("Symbol.dispose")];
  if (typeof dispose === "function") dispose.call(value);
}

// Returns whether a tensor is not disposed and was created by the package; hostile values can have the class too.
function isUsable(tensor) {
  return tensor.handle > 0;
}

function tensorsIn(eg, value) {
  if (value instanceof eg.Tensor) return isUsable(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => tensorsIn(eg, one));
  return [];
}
