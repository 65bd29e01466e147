// Tracing: runs a function once and lists its calls of ops. Tensors from outside the function (parameters, buffers and others) are
// values too. An in-place change gives a new value to its tensor, and to the tensors that it is a view of.

import { func, keep, nn, noGrad, scope, Tensor } from "edgegrad";
import { fail } from "../../errors/errors.js";
import { mapLeaves, type Origin, type Step, Value } from "./values.js";

/** A function as a list of steps. */
export interface Traced {
  readonly steps: readonly Step[];
  readonly inputs: readonly Value[];
  /** What the function returned, with values instead of tensors. */
  readonly result: unknown;
  /** The dotted names of the parameters and buffers, in the order of the module. */
  readonly members: readonly string[];
}

/** The state that the traces of one call of save() share. */
export class Session {
  /** The values that own a copy of their elements. */
  readonly held: Value[] = [];
  hasWarned = false;
}

/** What is traced: a module, or a function of tensors. */
export type Traceable = nn.Module | ((...inputs: Tensor[]) => unknown);

/** The step that writes a changed view back to its base. */
export const kViewUpdate = "changeOfView";

// Ops whose results share the memory of their input but are not marked as views.
const kSame: ReadonlySet<string> = new Set(["alias", "detach"]);

interface View {
  readonly base: Tensor;
  readonly step: Step;
  /** The index of the value among the results of the step. */
  readonly index: number;
  /** The version of the base whose elements the value has. */
  seen: number;
}

interface Entry {
  value: Value;
  version: number;
  readonly view: View | null;
}

/**
 * Runs `target` with `inputs` and lists its steps; composites in `whole` are single steps with parts. The caller disposes of the
 * elements that the values of the session hold.
 */
export function trace(
  target: Traceable,
  inputs: readonly Tensor[],
  whole: (op: string) => boolean,
  session: Session,
): Traced {
  const tracer = new Tracer(target instanceof nn.Module ? target : null, whole, session);
  const hooks = tracer.follow();
  try {
    const given = inputs.map((input) => tracer.add(input, "input"));
    const call =
      target instanceof nn.Module
        ? (...args: Tensor[]) => target.call(...(args as never[]))
        : target;
    const result = scope(() =>
      noGrad(() =>
        mapLeaves(
          func.interceptOps(
            () => call(...inputs),
            (op) => tracer.handle(op),
            { onRead: (tensor) => tracer.warnOfRead(tensor) },
          ),
          (leaf) => (leaf instanceof Tensor ? tracer.valueOf(leaf) : leaf),
        ),
      ),
    );
    return { steps: tracer.steps, inputs: given, result, members: tracer.members };
  } finally {
    for (const hook of hooks) hook.remove();
  }
}

class Tracer {
  steps: Step[] = [];
  readonly #entries = new Map<Tensor, Entry>();
  readonly #path: string[] = [];
  #isWhole = false;
  readonly #names = new Map<Tensor, { origin: Origin; name: string }>();

  constructor(
    readonly module: nn.Module | null,
    readonly whole: (op: string) => boolean,
    readonly session: Session,
  ) {
    for (const [name, buffer] of module?.namedBuffers() ?? []) {
      this.#names.set(buffer, { origin: "buffer", name });
    }
    for (const [name, parameter] of module?.namedParameters() ?? []) {
      this.#names.set(parameter, { origin: "parameter", name });
    }
  }

  /** The names of the parameters, and of the buffers. */
  get members(): string[] {
    const entries = [
      ...(this.module?.namedParameters() ?? []),
      ...(this.module?.namedBuffers() ?? []),
    ];
    return entries.map(([name]) => name);
  }

  /** Tracks which module is running. */
  follow(): { remove(): void }[] {
    return (this.module?.namedModules() ?? []).flatMap(([name, module]) => {
      let start = 0;
      return [
        module.registerForwardPreHook(() => {
          this.#path.push(name);
          start = this.steps.length;
        }),
        module.registerForwardHook((_, given, output) => {
          if (isRecurrent(module)) this.#join(module, start, given, output);
          this.#path.pop();
        }),
      ];
    });
  }

  /** Adds a tensor that no step computed. */
  add(tensor: Tensor, origin: Origin, name = "", data: Tensor | null = null): Value {
    const value = this.#make(tensor, origin, name, data);
    this.#entries.set(tensor, { value, version: 0, view: null });
    return value;
  }

  /** Returns the current value of a tensor. */
  valueOf(tensor: Tensor): Value {
    const entry = this.#entries.get(tensor);
    if (entry === undefined) return this.#outer(tensor);
    const { view } = entry;
    if (view === null) return entry.value;
    const base = this.valueOf(view.base);
    const { version } = this.#entries.get(view.base) as Entry;
    if (version === view.seen) return entry.value;
    // The base of the view has changed.
    const outputs = view.step.outputs.map(({ dtype, shape }) => this.#next("step", dtype, shape));
    const values = { ...view.step.values, input: base };
    this.steps.push({ ...view.step, values, outputs });
    entry.value = outputs[view.index] as Value;
    entry.version++;
    view.seen = version;
    return entry.value;
  }

  /** Warns that the program reads elements, which become constants in the file. */
  warnOfRead(tensor: Tensor): void {
    if (this.#isWhole || this.session.hasWarned || this.#entries.get(tensor)?.value.data !== null)
      return;
    this.session.hasWarned = true;
    const place = this.#path.at(-1);
    console.warn(
      `edgegrad: [onnx.save] ${place ? `the module ${place}` : "the module"} reads values that depend on the inputs, as item() does: ` +
        "in the file these values, and everything computed from them, are constants of this call. Use ops such as where() instead.",
    );
  }

  /** Runs a call and records it. */
  handle(call: func.OpCall): func.OpResult {
    if (call.isComposite && !this.whole(call.op)) return call.run();
    const values = mapLeaves(call.values, (leaf) =>
      leaf instanceof Tensor ? this.valueOf(leaf) : leaf,
    ) as Record<string, unknown>;
    if (call.changes !== null) this.#unshare(call.changes);
    const start = this.steps.length;
    const result = call.isComposite ? this.#unread(() => call.run()) : call.run();
    const parts = this.steps.splice(start);
    const path = this.#path.at(-1) ?? "";
    const results = (Array.isArray(result) ? result : [result]) as Tensor[];
    const op = { op: call.op, values, path, parts };
    // An op with nothing to do returns its argument, which already has a value.
    const given = Object.values(call.values);
    const isNew = results.some((result) => !given.includes(result));
    if (call.changes !== null) this.#change(call.changes, op);
    else if (isNew && call.isComposite) {
      this.steps.push({ ...op, outputs: results.map((result) => this.valueOf(result)) });
    } else if (isNew) this.#define(op, results, call.values);
    return result;
  }

  // Runs a call that is written as a whole, so that its parts may read values.
  #unread<T>(run: () => T): T {
    const before = this.#isWhole;
    this.#isWhole = true;
    try {
      return run();
    } finally {
      this.#isWhole = before;
    }
  }

  #define(
    op: Omit<Step, "outputs">,
    results: readonly Tensor[],
    given: Readonly<Record<string, unknown>>,
  ): void {
    const { input } = given;
    const isKnown = this.#isKnown(op);
    const outputs = results.map((result) =>
      this.#make(result, "step", "", isKnown ? result.detach() : null),
    );
    const step: Step = { ...op, outputs };
    this.steps.push(step);
    for (const [index, result] of results.entries()) {
      const isView = input instanceof Tensor && (result.isView || kSame.has(op.op));
      const seen = isView ? (this.#entries.get(input)?.version ?? 0) : 0;
      const view = isView ? { base: input, step, index, seen } : null;
      this.#entries.set(result, { value: outputs[index] as Value, version: 0, view });
    }
  }

  #change(tensor: Tensor, op: Omit<Step, "outputs">): void {
    if (tensor.isView && this.#entries.get(tensor)?.view === null) {
      const message = `${op.op} changes a view in place, and save() does not know of what. Change a copy of it: x.clone().`;
      fail("InvalidArgument", "onnx.save", message);
    }
    const value = this.#make(tensor, "step", "", this.#isKnown(op) ? tensor.detach() : null);
    this.steps.push({ ...op, outputs: [value] });
    this.#assign(tensor, value, op.path);
  }

  #assign(tensor: Tensor, value: Value, path: string): void {
    const entry = this.#entries.get(tensor) as Entry;
    entry.value = value;
    entry.version++;
    const { view } = entry;
    if (view === null) return;
    const base = this.valueOf(view.base);
    const updated = this.#next("step", base.dtype, base.shape);
    const values = { base, value, view: view.step, index: view.index };
    this.steps.push({ op: kViewUpdate, values, outputs: [updated], path, parts: [] });
    this.#assign(view.base, updated, path);
    view.seen = (this.#entries.get(view.base) as Entry).version;
  }

  // True if what a step computes does not depend on the inputs.
  #isKnown({ values }: Pick<Step, "values">): boolean {
    let isKnown = true;
    mapLeaves(values, (leaf) => {
      if (leaf instanceof Value && (leaf.data === null || leaf.origin === "parameter"))
        isKnown = false;
    });
    return isKnown;
  }

  // The value of a tensor from outside the function.
  #outer(tensor: Tensor): Value {
    const known = this.#names.get(tensor);
    const isTrained = tensor.requiresGrad && tensor.isLeaf;
    const origin = known?.origin ?? (isTrained ? "parameter" : "constant");
    return this.add(tensor, origin, known?.name ?? "", tensor.detach());
  }

  // Before a call changes a tensor, copies its elements for the other values that share them.
  #unshare(tensor: Tensor): void {
    for (
      let base: Tensor | undefined = tensor;
      base !== undefined;
      base = this.#entries.get(base)?.view?.base
    ) {
      const { value } = this.#entries.get(base) as Entry;
      if (value.data === null) continue;
      const copy = keep(value.data.clone());
      value.data.dispose();
      value.data = copy;
    }
  }

  // Replaces the steps of a recurrent layer by one.
  #join(module: nn.Module, start: number, given: readonly unknown[], output: unknown): void {
    const [input, hx = null] = given;
    if (!(input instanceof Tensor) || !Array.isArray(output)) return;
    const outputs = output.map((tensor) => this.valueOf(tensor as Tensor));
    const parameters = Object.fromEntries(
      module.namedParameters().map(([name, parameter]) => [name, this.valueOf(parameter)]),
    );
    const values = {
      input: this.valueOf(input),
      hx: hx instanceof Tensor ? this.valueOf(hx) : null,
      module,
      parameters,
    };
    const parts = this.steps.splice(start);
    const op = module.constructor === nn.GRU ? "GRU" : "RNN";
    this.steps.push({ op, values, outputs, path: this.#path.at(-1) ?? "", parts });
  }

  #make({ dtype, shape }: Tensor, origin: Origin, name: string, data: Tensor | null): Value {
    return this.#next(origin, dtype, shape, name, data);
  }

  #next(
    origin: Origin,
    dtype: Value["dtype"],
    shape: readonly number[],
    name = "",
    data: Tensor | null = null,
  ): Value {
    const value = new Value(origin, dtype, shape, name, data);
    if (data !== null) this.session.held.push(value);
    keep(data);
    return value;
  }
}

function isRecurrent(module: nn.Module): boolean {
  return module.constructor === nn.GRU || module.constructor === nn.RNN;
}
