// What the worker measured and found, as the page gets it.

/** A value that a node keeps for backward. */
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
  /** Null for AccumulateGrad, which has the highest there is and so runs at once. */
  readonly sequenceNr: number | null;
  readonly topologicalNr: number;
  /** The leaf that an AccumulateGrad adds to. */
  readonly leaf: { readonly name: string; readonly kind: string } | null;
  readonly saved: readonly Saved[];
  /** Shapes of the gradients that came in, seen by a hook in the rehearsal. */
  readonly gradients: readonly string[];
}

/** From the node that computes a gradient to the node that gets it. */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
}

/** One run of a node, as profile() recorded it; times in milliseconds since the recording began. */
export interface Run {
  readonly node: number;
  /** Which of the tensors that backward was called on it belongs to. */
  readonly pass: number;
  readonly thread: number;
  readonly device: string;
  readonly start: number;
  readonly duration: number;
  readonly deviceDuration: number | null;
}

/** Where things are drawn; nodes by their centre. */
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
  /** The nodes where the passes begin. */
  readonly roots: readonly number[];
  readonly runs: readonly Run[];
  readonly layout: Layout;
  /** False where several passes ran one after the other, for want of threads. */
  readonly together: boolean;
}
