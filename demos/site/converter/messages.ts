// What the page and its worker tell each other.

import type { OnnxDescription } from "edgegrad/onnx";

/** The kinds of files, by which they are recognized. */
export type Kind = "onnx" | "torch" | "safetensors";

/** The formats that a file can be saved in. */
export type Format = "onnx" | "pt" | "safetensors";

/** A tensor of a file. */
export interface TensorRow {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** A file that was opened. */
export interface Opened {
  readonly name: string;
  readonly kind: Kind;
  readonly bytes: number;
  readonly tensors: readonly TensorRow[];
  readonly metadata: Readonly<Record<string, string>>;
  /** The formats in which it can be saved. */
  readonly formats: readonly Format[];
  /** What is in an ONNX file; null for files that have only weights. */
  readonly model: OnnxDescription | null;
  /** Why an ONNX model cannot be run; null if it can. */
  readonly problem: string | null;
}

/** What the elements of a tensor are. */
export interface Statistics {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  readonly nans: number;
}

/** How the elements of an input are made up. */
export type Fill = "normal" | "uniform" | "zeros" | "whole";

/** What a model is run with. */
export interface RunOptions {
  /** The sizes that the file leaves open, by their keys (open_sizes.ts). */
  readonly sizes: Readonly<Record<string, number>>;
  readonly fill: Fill;
  /** Whole numbers are below this. */
  readonly below: number;
}

/** A result of a model. */
export interface Output {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Its first elements, as they print. */
  readonly text: string;
}

/** The results of a run. */
export interface RunResult {
  readonly inputs: readonly string[];
  readonly outputs: readonly Output[];
  /** Milliseconds of the first run, and of the next. */
  readonly first: number;
  readonly next: number;
  /** The shapes of the values in the graph, by name; empty if they could not be had. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

/** How the bytes of a picture become numbers. */
export type Scaling = "unit" | "signed" | "imagenet" | "bytes";

/** Pictures of one size: four bytes a pixel, row by row. */
export interface Pictures {
  readonly pixels: readonly Uint8ClampedArray<ArrayBuffer>[];
  readonly scaling: Scaling;
  readonly isInverted: boolean;
  readonly sizes: Readonly<Record<string, number>>;
}

/** A lesson for the last layer. */
export interface Lesson extends Pictures {
  /** The class of each picture. */
  readonly labels: readonly number[];
  readonly classes: number;
  readonly steps: number;
  readonly rate: number;
}

/** A step of a lesson and its loss. */
export type LossPoint = readonly [step: number, loss: number];

/** What a lesson has achieved, on the pictures that it was not trained with; NaN if there were none. */
export interface Learned {
  readonly steps: number;
  readonly loss: number;
  readonly right: number;
  readonly tested: number;
  readonly trained: number;
  /** Whether the layer went on from its weights, or is a new one. */
  readonly isNew: boolean;
}
