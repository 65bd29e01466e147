// What inspect() returns about a model: plain objects, which can be sent to another thread.

import type * as eg from "edgegrad";
import type { OnnxHeader } from "./header.js";
import type { GraphValue } from "./interface.js";

/** A node of a model's graph. */
export interface OnnxNode {
  /** Its name, which may be empty and need not be unique. */
  readonly name: string;
  /** The op, or a function of the model. */
  readonly op: string;
  /** The set of ops; "ai.onnx" is ONNX's own. */
  readonly domain: string;
  /** The names of the values it reads; "" for an optional one that is left out. */
  readonly inputs: readonly string[];
  /** The names of the values it computes; "" for one that nothing uses. */
  readonly outputs: readonly string[];
  /** Its attributes as text, by name; tensors and graphs are summarized by kind and size. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whether `load()` knows the op in the version that the model uses. */
  readonly isSupported: boolean;
}

/** A tensor that a model stores. */
export interface OnnxInitializer {
  /** Its name. */
  readonly name: string;
  /** The element type in the file, in ONNX's spelling. */
  readonly type: string;
  /** The dtype that it has after `load()`; "string" for strings. */
  readonly dtype: eg.DType | "string";
  /** Its sizes. */
  readonly shape: readonly number[];
  /** The bytes of its elements in the file, or in the file beside it. */
  readonly bytes: number;
}

/** The contents of a model. */
export interface OnnxDescription extends OnnxHeader {
  /** The inputs of the graph, without the tensors that the file stores for them. */
  readonly inputs: readonly GraphValue[];
  /** The outputs of the graph. */
  readonly outputs: readonly GraphValue[];
  /** The nodes of the graph, in the order of the file. */
  readonly nodes: readonly OnnxNode[];
  /** The stored tensors. */
  readonly initializers: readonly OnnxInitializer[];
  /** The shapes that the file declares, by the name of the value. */
  readonly shapes: Readonly<Record<string, readonly (number | string | null)[]>>;
}
