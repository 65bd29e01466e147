// The results of a recording, as the worker sends them to the page.

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

/** An edge from the node that computes a gradient to the node that receives it. */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
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

/** Positions in the drawing; nodes by their centers. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Box[];
  readonly edges: readonly (readonly Point[])[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Recording {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** The nodes at which the passes start. */
  readonly roots: readonly number[];
  readonly runs: readonly Run[];
  readonly layout: Layout;
  /** False if several passes ran one after the other, because there are no threads. */
  readonly together: boolean;
}
