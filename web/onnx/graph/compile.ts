// Turns the graph of a file into steps, and collects everything that is not supported instead of failing at the first problem.

import { fail } from "../../errors/errors.js";
import { normalDomain } from "../header.js";
import { type Domains, findOp, kOwn } from "../ops/index.js";
import type { Op, Rule } from "../ops/op.js";
import type { Message } from "../proto/schema.js";
import { type Apart, hostOf, type Stored, storedTensor } from "../tensors/decode.js";
import { tensorOfStored } from "../tensors/pieces.js";
import { kMostHostElements } from "../values/host.js";
import { isInteger } from "../values/types.js";
import type { Value } from "../values/value.js";
import { ordered } from "./order.js";
import type { Step, Subgraph } from "./program.js";

const kWhere = "onnx.load";

/** The limit on steps after functions are inlined: a few small functions could expand to any number. */
const kMostSteps = 100_000;
const kMostNested = 64;

type NodeMessage = Message<"Node">;
type AttributeMessage = Message<"Attribute">;
type Attributes = ReadonlyMap<string, AttributeMessage>;
type Versions = ReadonlyMap<string, number>;

/** A tensor that the file stores: an initializer, or the value of a `Constant` node. */
export interface StoredTensor {
  readonly name: string;
  /** The slots that have it: several for one in a function that is called several times. */
  readonly slots: number[];
  readonly tensor: Stored;
  /** Whether it is an initializer of the model's own graph. */
  readonly isInitializer: boolean;
}

/** A compiled graph. */
export interface Compiled {
  readonly graph: Subgraph;
  readonly slotOf: ReadonlyMap<string, number>;
  readonly stored: readonly StoredTensor[];
  /** The values that are known before the graph runs. */
  readonly constants: Map<number, Value>;
  readonly slotCount: number;
}

/** The names that are in scope in a graph. */
interface Names {
  readonly own: Map<string, number>;
  readonly outer: Names | null;
}

interface Scope {
  readonly names: Names;
  readonly versions: Versions;
  /** The attributes of the function call, which the nodes of the function refer to. */
  readonly given: Attributes;
  /** The nesting depth of function calls. */
  readonly depth: number;
}

/** Compiles a model; `apart` has tensor data that was read separately. Throws one error that lists everything that is not supported. */
export function compile(
  model: Message<"Model">,
  apart: ReadonlyMap<Message<"Tensor">, Apart>,
  domains: Domains,
): Compiled {
  return new Compiler(model, apart, domains).compiled();
}

class Compiler {
  readonly #model: Message<"Model">;
  readonly #apart: ReadonlyMap<Message<"Tensor">, Apart>;
  readonly #domains: Domains;
  readonly #functions = new Map<string, Message<"Function">>();
  readonly #problems = new Map<string, { count: number; node: string }>();
  readonly #constants = new Map<number, Value>();
  readonly #stored = new Map<Message<"Tensor">, StoredTensor>();
  readonly #initialized = new Set<number>();
  #slotCount = 0;
  #stepCount = 0;

  constructor(
    model: Message<"Model">,
    apart: ReadonlyMap<Message<"Tensor">, Apart>,
    domains: Domains,
  ) {
    this.#model = model;
    this.#domains = domains;
    this.#apart = apart;
    for (const message of model.functions) {
      this.#functions.set(keyOf(message.domain, message.name, message.overload), message);
    }
  }

  compiled(): Compiled {
    const { graph, opsetImport } = this.#model;
    if (graph === undefined) {
      return fail("InvalidArgument", kWhere, "expected an ONNX model, got a file without a graph.");
    }
    const names: Names = { own: new Map(), outer: null };
    const versions = this.#versions(opsetImport);
    const result = this.#graph(graph, { names, versions, given: new Map(), depth: 0 }, true);
    this.#throwProblems();
    return {
      graph: result,
      slotOf: names.own,
      stored: [...this.#stored.values()],
      constants: this.#constants,
      slotCount: this.#slotCount,
    };
  }

  #versions(imports: readonly Message<"OperatorSet">[]): Versions {
    const versions = new Map<string, number>();
    for (const { domain, version } of imports) {
      const name = normalDomain(domain);
      const newest = this.#domains.get(name)?.newest;
      versions.set(name, Number(version ?? 1));
      if (newest !== undefined && Number(version ?? 1) > newest) {
        this.#problem(
          `opset ${version} of the domain ${withDot(name)} (the newest known is ${newest})`,
          "",
        );
      }
    }
    return versions;
  }

  #graph(graph: Message<"Graph">, scope: Scope, isMain: boolean): Subgraph {
    if (scope.depth > kMostNested) {
      return fail(
        "InvalidArgument",
        kWhere,
        `graphs are inside each other more than ${kMostNested} deep.`,
      );
    }
    if (graph.node.length > kMostSteps) this.#tooMany();
    const { own } = scope.names;
    for (const { values } of graph.sparseInitializer) {
      this.#problem("a sparse initializer", values?.name ?? "");
    }
    const inputs = graph.input.map(({ name }) => this.#define(own, name ?? ""));
    for (const message of graph.initializer) this.#initializer(message, own, isMain);
    const steps: Step[] = [];
    for (const node of ordered(graph.node, own)) this.#node(node, scope, steps);
    const outputs = graph.output.map(({ name }) => {
      const slot = lookUp(scope.names, name ?? "");
      if (slot !== undefined) return slot;
      return fail(
        "InvalidArgument",
        kWhere,
        `no node makes the output "${name}" of graph "${graph.name ?? ""}".`,
      );
    });
    return { inputs, outputs, steps };
  }

  #initializer(message: Message<"Tensor">, own: Map<string, number>, isMain: boolean): void {
    const name = message.name ?? "";
    if (this.#initialized.has(own.get(name) ?? -1)) {
      fail("InvalidArgument", kWhere, `the graph has two initializers "${name}".`);
    }
    // In older files initializers are inputs too.
    const slot = own.get(name) ?? this.#define(own, name);
    this.#initialized.add(slot);
    this.#keep(message, name, slot, isMain);
  }

  #keep(message: Message<"Tensor">, name: string, slot: number, isInitializer: boolean): void {
    const known = this.#stored.get(message);
    if (known !== undefined) known.slots.push(slot);
    else {
      const tensor = storedTensor(message, this.#apart.get(message));
      this.#stored.set(message, { name, slots: [slot], tensor, isInitializer });
    }
  }

  #define(own: Map<string, number>, name: string, slot = this.#slotCount): number {
    if (own.has(name)) {
      return fail(
        "InvalidArgument",
        kWhere,
        `the name "${name}" is given to two values of a graph.`,
      );
    }
    if (slot === this.#slotCount) this.#slotCount++;
    own.set(name, slot);
    return slot;
  }

  #node(node: NodeMessage, scope: Scope, steps: Step[]): void {
    if (++this.#stepCount > kMostSteps) this.#tooMany();
    const called = this.#functions.get(keyOf(node.domain, node.opType, node.overload));
    if (called !== undefined) {
      this.#call(called, node, scope, steps);
      return;
    }
    const domain = normalDomain(node.domain);
    const version = scope.versions.get(domain) ?? 1;
    const op = findOp(this.#domains.get(domain), node.opType ?? "", version);
    const title = `${withDot(domain)}${node.opType ?? ""}`;
    const constant = op === kOwn.ops.Constant ? tensorIn(node, scope) : undefined;
    const [output = ""] = node.output;
    if (constant !== undefined) {
      this.#keep(constant, output, this.#define(scope.names.own, output), false);
      return;
    }
    const inputs = node.input.map((name) => this.#slot(name, scope, node));
    if (op === undefined) this.#problem(`op ${title} in version ${version}`, node.name ?? "");
    const attributes = op === undefined ? {} : this.#attributes(op, node, scope, title);
    const outputs = node.output.map((name) =>
      name === "" ? -1 : this.#define(scope.names.own, name),
    );
    if (op === undefined || attributes === null) return;
    const step: Step = {
      op,
      title: node.name ? `${title} "${node.name}"` : title,
      version,
      inputs,
      outputs,
      wanted: outputs.map((slot) => slot >= 0),
      attributes,
      graphs: Object.values(attributes).filter(isGraph),
      release: [],
    };
    const fixed = outputs.length === 1 ? op.constant?.(attributes as never) : undefined;
    if (fixed === undefined) steps.push(step);
    else this.#constants.set(outputs[0] as number, fixed);
  }

  #tooMany(): never {
    fail("InvalidArgument", kWhere, `the graph has more than ${kMostSteps} nodes.`);
  }

  #slot(name: string, { names }: Scope, node: NodeMessage): number {
    if (name === "") return -1;
    const slot = lookUp(names, name);
    if (slot !== undefined) return slot;
    const text = `the input "${name}" of ${node.opType} "${node.name ?? ""}" is made by no node.`;
    return fail("InvalidArgument", kWhere, text);
  }

  // Inlines a function of the model.
  #call(called: Message<"Function">, node: NodeMessage, scope: Scope, steps: Step[]): void {
    if (scope.depth > kMostNested) {
      fail(
        "InvalidArgument",
        kWhere,
        `function "${called.name}" is inside itself, or more than ${kMostNested} deep.`,
      );
    }
    const own = new Map<string, number>();
    called.input.forEach((name, i) => {
      const given = node.input[i] ?? "";
      own.set(name, this.#slot(given, scope, node));
    });
    const given = new Map(
      called.attributeProto.map((attribute) => [attribute.name ?? "", attribute]),
    );
    for (const attribute of node.attribute) {
      const resolved = resolve(attribute, scope.given);
      if (resolved !== undefined) given.set(attribute.name ?? "", resolved);
    }
    const versions = this.#versions(called.opsetImport);
    const inner = { names: { own, outer: null }, versions, given, depth: scope.depth + 1 };
    for (const child of ordered(called.node, own)) this.#node(child, inner, steps);
    called.output.forEach((name, i) => {
      const outer = node.output[i] ?? "";
      const slot = own.get(name);
      if (slot === undefined) {
        fail(
          "InvalidArgument",
          kWhere,
          `no node makes the output "${name}" of function "${called.name}".`,
        );
      }
      if (outer !== "") this.#define(scope.names.own, outer, slot);
    });
  }

  // Returns null if an attribute is not supported.
  #attributes(
    op: Op,
    node: NodeMessage,
    scope: Scope,
    title: string,
  ): Record<string, unknown> | null {
    const rules: Readonly<Record<string, Rule<unknown>>> = op.attributes ?? {};
    const values: Record<string, unknown> = {};
    for (const [name, rule] of Object.entries(rules)) values[name] = rule.missing;
    let isKnown = true;
    for (const attribute of node.attribute) {
      const name = attribute.name ?? "";
      const found = resolve(attribute, scope.given);
      if (found === undefined) continue;
      if (!Object.hasOwn(rules, name)) {
        this.#problem(`attribute "${name}" of ${title}`, node.name ?? "");
        isKnown = false;
        continue;
      }
      const rule = rules[name] as Rule<unknown>;
      values[name] = this.#attribute(rule, found, scope, title) ?? rule.missing;
    }
    return isKnown ? values : null;
  }

  #attribute(rule: Rule<unknown>, found: AttributeMessage, scope: Scope, title: string): unknown {
    if (rule.read === "tensor" || rule.read === "list") {
      if (found.sparseTensor !== undefined) this.#problem(`a sparse tensor in ${title}`, "");
      if (rule.read === "list")
        return found.t && hostOf(storedTensor(found.t, this.#apart.get(found.t)));
      return found.t && this.#tensor(found.t);
    }
    if (rule.read !== "graph") return rule.read(found);
    if (found.g === undefined) return undefined;
    const names = { own: new Map(), outer: scope.names };
    return this.#graph(found.g, { ...scope, names, depth: scope.depth + 1 }, false);
  }

  #tensor(message: Message<"Tensor">): Value {
    return constantOf(storedTensor(message, this.#apart.get(message)));
  }

  #problem(what: string, node: string): void {
    const known = this.#problems.get(what);
    if (known === undefined) this.#problems.set(what, { count: 1, node });
    else known.count++;
  }

  #throwProblems(): void {
    if (this.#problems.size === 0) return;
    const list = [...this.#problems].map(([what, { count, node }]) => {
      const where = node === "" ? "" : `, first in "${node}"`;
      return `${what} (${count} ${count === 1 ? "time" : "times"}${where})`;
    });
    fail("InvalidArgument", kWhere, `the model uses unsupported features: ${list.join("; ")}.`);
  }
}

function lookUp(names: Names, name: string): number | undefined {
  for (let scope: Names | null = names; scope !== null; scope = scope.outer) {
    const slot = scope.own.get(name);
    if (slot !== undefined) return slot;
  }
  return undefined;
}

// In a function an attribute may refer to an attribute of the call, which may be missing.
function resolve(attribute: AttributeMessage, given: Attributes): AttributeMessage | undefined {
  return attribute.refAttrName ? given.get(attribute.refAttrName) : attribute;
}

/** Returns a constant; one with few elements, such as a shape, stays in JavaScript. */
export function constantOf(tensor: Stored): Value {
  const most = isFloating(tensor) ? kMostHostFloats : kMostHostElements;
  const isHost = tensor.type === "string" || tensor.count <= most;
  return isHost && !tensor.type.startsWith("complex") ? hostOf(tensor) : tensorOfStored(tensor);
}

const kMostHostFloats = 16;

/** Whether a tensor could be trained. */
export function isFloating({ type }: Stored): boolean {
  return !isInteger(type) && type !== "bool" && type !== "string";
}

// The tensor of a `Constant` node; one that is sparse is reported with the attributes.
function tensorIn(node: NodeMessage, scope: Scope): Message<"Tensor"> | undefined {
  const value = node.attribute.find(({ name }) => name === "value");
  return value && resolve(value, scope.given)?.t;
}

function isGraph(value: unknown): value is Subgraph {
  return typeof value === "object" && value !== null && "steps" in value;
}

const keyOf = (
  domain: string | undefined,
  name: string | undefined,
  overload: string | undefined,
) => `${normalDomain(domain)}\n${name ?? ""}\n${overload ?? ""}`;

const withDot = (domain: string) => (domain === "" ? "" : `${domain}.`);
