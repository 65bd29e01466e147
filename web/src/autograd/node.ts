// Nodes of the backward graph in JavaScript.
//
// A Node is a handle, like a Tensor, and is freed like one. A node of the graph is always represented by the
// same object while that object is alive: C++ also passes the node's address, which no other node can have
// while a handle holds this one.

import {
  callFrame,
  checked,
  checkedFor,
  epoch,
  native,
  takeWords,
} from "../runtime/bridge/bridge.js";
import { heldValue, holdValue } from "../runtime/bridge/callbacks.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { finalizers, type Reference, weakly } from "../runtime/host/weak.js";
import { type Device, type DType, deviceOf, dtypeOf } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { kUncloneable, refuseStale, track } from "../tensor/lifetime.js";
import { knownTensor, type Tensor, takeTensor } from "../tensor/tensor.js";
import { addHook, checkFunction, type HookHandle, replacement } from "./hooks.js";
import { rawSavedOf, type SavedTensor, savedOf } from "./saved_values.js";

/** The gradients on one side of a node; null means zero. */
export type GradientList = (Tensor | null)[];

/** A hook that receives the gradients that leave a node and those that entered it. */
export type NodeHook =
  | ((gradInputs: GradientList, gradOutputs: GradientList) => readonly (Tensor | null)[])
  | ((gradInputs: GradientList, gradOutputs: GradientList) => void);

/** A hook that receives the gradients that enter a node. */
export type NodePrehook =
  | ((gradOutputs: GradientList) => readonly (Tensor | null)[])
  | ((gradOutputs: GradientList) => void);

/** What a gradient that enters a node must be like. */
export interface InputMetadata {
  /** The shape of the result that the gradient belongs to. */
  readonly shape: readonly number[];
  /** The dtype of that result. */
  readonly dtype: DType;
  /** The device of that result. */
  readonly device: Device;
}

/** A node of the backward graph, which computes the gradients of one recorded operation. */
export class Node {
  /** 0 after its scope has ended. @internal */
  handle: number;
  /** See Tensor. @internal */
  ballast: ArrayBuffer | null = null;
  /** True when no scope frees it. @internal */
  isKept = false;
  /** See kUncloneable. @internal */
  readonly uncloneable = kUncloneable;

  /** Takes ownership of a handle. @internal */
  constructor(handle: number) {
    this.handle = handle;
    track(this);
  }

  /** The name of the node, as in PyTorch: for example "MulBackward0". */
  get name(): string {
    return native.nodeName(handleOfNode(this));
  }

  /** Returns the JSON form of a node: its name. */
  toJSON(): { name: string } {
    return { name: this.name };
  }

  /** For each input of the operation, the node that its gradient is passed to and the index there. */
  get nextFunctions(): [Node | null, number][] {
    const count = checked(native.nextFunctions(handleOfNode(this)));
    const words = takeWords(count);
    const edges: [Node | null, number][] = [];
    for (let i = 0; i < count; i += 3) {
      edges.push([wrapNode(words[i], words[i + 1]), words[i + 2] ?? 0]);
    }
    return edges;
  }

  /**
   * The node's number, which increases with every node made on a thread. Nodes with higher numbers run first; AccumulateGrad has
   * 2^64 - 1, so it runs immediately.
   */
  get sequenceNr(): number {
    return numberOf(this, 0);
  }

  /** The length of the longest path from this node to a leaf. */
  get topologicalNr(): number {
    return numberOf(this, 1);
  }

  /**
   * The values that this node saves for backward: tensors, under PyTorch's names (`saved.self`, `saved.result`),
   * and numbers. Reading a tensor throws once the graph has been freed. Those of a Function are `saved[0]`, `saved[1]` and so on.
   */
  get saved(): Record<string, unknown> {
    handleOfNode(this);
    return savedOf(this);
  }

  /** The tensors that this node saves, in their order; throws once the graph has been freed. */
  get savedTensors(): (Tensor | null)[] {
    const count = checkedFor("savedTensors", native.nodeSavedTensors(handleOfNode(this)));
    return takeWords(count).map(knownTensor);
  }

  /** For each gradient that enters this node, what it must be like. */
  get inputMetadata(): InputMetadata[] {
    const words = takeWords(checked(native.inputMetadata(handleOfNode(this))));
    const list: InputMetadata[] = [];
    for (let i = 0; i < words.length; ) {
      const [dtype, device, ndim = 0] = words.slice(i, i + 3);
      const shape = words.slice(i + 3, i + 3 + ndim);
      list.push({ shape, dtype: dtypeOf(dtype), device: deviceOf(device) });
      i += 3 + ndim;
    }
    return list;
  }

  /** The saved tensors of this node in raw form, for registering hooks, under the names of `saved`. */
  get rawSaved(): Record<string, SavedTensor> {
    handleOfNode(this);
    return rawSavedOf(this);
  }

  /** The leaf whose `grad` an AccumulateGrad node adds to; null for other nodes. */
  get variable(): Tensor | null {
    return knownTensor(checked(native.nodeVariable(handleOfNode(this))));
  }

  /** An object for the program's own data about this node. In anomaly mode, `traceback_` has the stack where it was made. */
  get metadata(): Record<string, unknown> {
    const handle = handleOfNode(this);
    const known = checked(native.nodeMetadata(handle));
    if (known !== 0) return heldValue(known) as Record<string, unknown>;
    const stack = native.forwardStack(handle);
    const metadata = stack === "" ? {} : { traceback_: stack.split("\n") };
    checked(native.setNodeMetadata(handle, holdValue(metadata)));
    return metadata;
  }

  /**
   * Calls `hook` after this node has run, with the gradients that leave it and those that entered it. An array
   * returned by the hook replaces the gradients that leave the node.
   */
  registerHook(hook: NodeHook): HookHandle {
    checkFunction("registerHook", hook);
    const answer = (words: readonly number[]) => {
      const inputs = takeList(words, 0);
      const outputs = takeList(words, 1 + inputs.length);
      return listAnswer(hook(inputs, outputs));
    };
    return addHook("registerHook", native.registerNodeHook, handleOfNode(this), hook, answer);
  }

  /** Calls `hook` with the gradients that enter this node before it runs. An array returned by the hook replaces them. */
  registerPrehook(hook: NodePrehook): HookHandle {
    checkFunction("registerPrehook", hook);
    const answer = (words: readonly number[]) => listAnswer(hook(takeList(words, 0)));
    return addHook("registerPrehook", native.registerNodePrehook, handleOfNode(this), hook, answer);
  }

  /** Returns what console.log shows in Node. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.disposed ? "<disposed>" : `<${this.name}>`;
  }

  /** True after the end of the scope that this object belongs to. */
  get disposed(): boolean {
    return this.handle === 0;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** Returns the node that computed a tensor, or null for a leaf. */
export function gradFnOf(tensor: Tensor): Node | null {
  checkedFor("gradFn", native.gradFn(handleOf(tensor)));
  return takeNode();
}

// Wraps the node whose handle and address C++ has written to the front of the frame.
function takeNode(): Node | null {
  const [handle, address] = callFrame();
  return wrapNode(handle, address);
}

/** Returns the node that receives gradients of a tensor: the one that computed it, or the accumulator of a leaf. */
export function gradientNodeOf(tensor: Tensor): Node | null {
  checked(native.gradientNode(handleOf(tensor)));
  return takeNode();
}

/** Returns the edge of the graph that refers to the current value of a tensor. */
export function getGradientEdge(tensor: Tensor): { node: Node; outputNr: number } {
  checkedFor("getGradientEdge", native.gradientEdge(handleOf(tensor)));
  const outputNr = callFrame()[2] ?? 0;
  return { node: takeNode() as Node, outputNr };
}

// The live nodes by address, for the module of epoch `bornIn`.
let bornIn = epoch;
const known = new Map<number, Reference<Node>>();
const forgetting = finalizers((address) => {
  if (known.get(address)?.deref() === undefined) known.delete(address);
});

function wrapNode(handle = 0, address = 0): Node | null {
  if (handle === 0) return null;
  if (bornIn !== epoch) {
    known.clear();
    bornIn = epoch;
  }
  const existing = known.get(address)?.deref();
  if (existing !== undefined && !existing.disposed) {
    native.release(handle);
    return existing;
  }
  const node = new Node(handle);
  known.set(address, weakly(node));
  forgetting.register(node, address);
  return node;
}

// Reads a list that starts at a word with its length.
function takeList(words: readonly number[], start: number): GradientList {
  const first = start + 1;
  return words.slice(first, first + (words[start] ?? 0)).map(takeTensor);
}

// Encodes the result of a hook for C++.
function listAnswer(result: unknown): number[] {
  if (result === undefined || result === null) return [];
  if (!Array.isArray(result)) {
    fail(
      "InvalidGradient",
      "registerHook",
      `a hook of a node must return an array or nothing, got ${describe(result)}.`,
    );
  }
  const handles = result.map((grad) => (grad === null ? 0 : replacement("registerHook", grad)));
  return [handles.length, ...handles];
}

/** Returns the handle of a node, or throws Disposed. */
export function handleOfNode(node: Node): number {
  if (node.handle > 0) return node.handle;
  refuseStale("gradFn", node);
  fail(
    "Disposed",
    "gradFn",
    "this graph node has been disposed at the end of an eg.scope(); return it from the scope or mark it " +
      "with eg.keep() to keep using it.",
  );
}

function numberOf(node: Node, word: number): number {
  checked(native.nodeNumbers(handleOfNode(node)));
  return callFrame()[word] ?? 0;
}
