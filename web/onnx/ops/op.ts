// How an op is declared: its attributes with their defaults, and a function on edgegrad's tensors.

import type * as eg from "edgegrad";
import type { Message } from "../proto/schema.js";
import type { Host } from "../values/host.js";
import type { Value } from "../values/value.js";

/** Reads the value of an attribute; returns undefined if it is of another kind. */
type Read<T> = (attribute: Message<"Attribute">) => T | undefined;

/** A declared attribute: how to read it, and its default. */
export interface Rule<T> {
  readonly read: Read<T> | "graph" | "tensor" | "list";
  readonly missing: T;
}

type Rules = Readonly<Record<string, Rule<unknown>>>;

/** The values of attributes by name. */
export type ValuesOf<R extends Rules> = {
  readonly [K in keyof R]: R[K] extends Rule<infer T> ? T : never;
};

/** A graph attribute as its op sees it: the slots of its inputs and outputs. */
export interface InnerGraph {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** What a call of an op receives besides inputs and attributes. */
export interface Call {
  /** The version of the op's domain. */
  readonly version: number;
  /** Whether the module is in training mode. */
  readonly training: boolean;
  /** Whether the graph uses each output. */
  readonly wanted: readonly boolean[];
  /** Runs a graph attribute. The results are kept until the op returns. */
  run(graph: InnerGraph, inputs: readonly Value[]): Value[];
  /** Frees results of run() that the op does not need any more. */
  free(values: readonly Value[]): void;
}

/** An op of ONNX. */
export interface Op<R extends Rules = Rules> {
  /** The version of the domain that introduced the op; default 1. */
  readonly since?: number;
  /** The last version of the domain that has the op. */
  readonly until?: number;
  readonly attributes?: R;
  /** Computes the outputs. */
  run(inputs: readonly Value[], attributes: ValuesOf<R>, call: Call): Value | readonly Value[];
  /** Computes the output when all inputs are arrays in JavaScript; returns undefined where run() has to. */
  host?(inputs: readonly Host<number>[], attributes: ValuesOf<R>, call: Call): Host | undefined;
  /** host() also takes strings. */
  readonly texts?: boolean;
  /** Returns the output, for an op that depends only on its attributes. */
  constant?(attributes: ValuesOf<R>): Value;
  /** The results' element types are not that of the first input, as they are by default. */
  readonly ownTypes?: boolean;
  /** Integer results wrap around. */
  readonly wraps?: boolean;
  /** The inputs that training updates without a gradient: their initializers are buffers. */
  readonly updates?: readonly number[];
  /** The inputs that are settings, read in JavaScript: their initializers are constants of the graph. */
  readonly settings?: readonly number[];
  /** The inputs that training learns: what the file stores for them are parameters. */
  readonly weights?: readonly number[];
}

/** Declares an op. */
export function op<R extends Rules = Record<never, never>>(declaration: Op<R>): Op {
  return declaration as unknown as Op;
}

/** The ops of a domain by name. */
export type Ops = Readonly<Record<string, Op>>;

const text = (bytes: Uint8Array) => new TextDecoder().decode(new Uint8Array(bytes));

const readInt: Read<number> = ({ i }) => (i === undefined ? undefined : Number(i));
const readFloat: Read<number> = ({ f }) => f;
const readText: Read<string> = ({ s }) => (s === undefined ? undefined : text(s));

/** An integer. */
export const int = (missing: number): Rule<number> => ({ read: readInt, missing });
/** An integer that may be missing. */
export const maybeInt: Rule<number | undefined> = { read: readInt, missing: undefined };
/** A boolean, which files store as 0 or 1. */
export const flag = (missing: boolean): Rule<boolean> => ({
  read: ({ i }) => (i === undefined ? undefined : Number(i) !== 0),
  missing,
});
/** A number. */
export const float = (missing: number): Rule<number> => ({ read: readFloat, missing });
/** A number that may be missing. */
export const maybeFloat: Rule<number | undefined> = { read: readFloat, missing: undefined };
/** A string. */
export const string = (missing: string): Rule<string> => ({ read: readText, missing });
/** A list of integers that may be missing. */
export const maybeInts: Rule<readonly number[] | undefined> = {
  read: ({ ints }) => ints.map(Number),
  missing: undefined,
};
/** A list of numbers that may be missing. */
export const maybeFloats: Rule<readonly number[] | undefined> = {
  read: ({ floats }) => floats,
  missing: undefined,
};
/** A list of strings that may be missing. */
export const maybeStrings: Rule<readonly string[] | undefined> = {
  read: ({ strings }) => strings.map(text),
  missing: undefined,
};
/** A tensor that may be missing. */
export const maybeTensor: Rule<Value> = { read: "tensor", missing: undefined };
/** A tensor that may be missing, as an array in JavaScript of any length. */
export const maybeList: Rule<Host<number> | undefined> = { read: "list", missing: undefined };
/** A graph that may be missing. */
export const maybeGraph: Rule<InnerGraph | undefined> = { read: "graph", missing: undefined };
/** An attribute that has no effect here. */
export const ignored: Rule<undefined> = { read: () => undefined, missing: undefined };

/** An operand of edgegrad's ops: a tensor or a number. */
export type Operand = eg.Tensor | number;
