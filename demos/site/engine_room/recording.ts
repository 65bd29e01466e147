// The results of a recording, as the worker sends them to the page.

import type { Edge, Layout } from "../shared/graph/layout.js";

/** A value that a node saves for backward. */
export interface Saved {
  readonly name: string;
  /** "float32 [32, 16]", a number, or why it could not be read. */
  readonly value: string;
  /** The first numbers of a tensor; empty for others. */
  readonly preview: string;
}

/** A node of the backward graph. */
export interface GraphNode {
  readonly name: string;
  /** Null for AccumulateGrad, which has the highest possible number and so runs immediately. */
  readonly sequenceNr: number | null;
  readonly topologicalNr: number;
  /** The leaf that an AccumulateGrad adds to. */
  readonly leaf: { readonly name: string; readonly kind: string } | null;
  readonly saved: readonly Saved[];
  /** The shapes of the incoming gradients, which a hook received in the rehearsal. */
  readonly gradients: readonly string[];
}

/** One run of a node, as profile() recorded it; times in milliseconds since the recording began. */
export interface Run {
  readonly node: number;
  /** The index of the tensor on which this backward was called. */
  readonly pass: number;
  readonly thread: number;
  readonly device: string;
  readonly start: number;
  readonly duration: number;
  readonly deviceDuration: number | null;
}

export interface Recording {
  readonly nodes: readonly GraphNode[];
  /** From the node that computes a gradient to the node that receives it. */
  readonly edges: readonly Edge[];
  /** The nodes at which the passes start. */
  readonly roots: readonly number[];
  readonly runs: readonly Run[];
  readonly layout: Layout;
  /** False if several passes ran one after the other, because there are no threads. */
  readonly together: boolean;
}
