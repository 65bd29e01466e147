// The messages between the page and the worker that runs a visitor's code.

import type { LogRecord } from "edgegrad/vis";

/** A tensor of one or two dims that was printed. */
export interface Table {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

/** One printed line and its kind. */
export interface Line {
  readonly kind: "log" | "warning" | "error";
  readonly text: string;
  /** The line of the code that threw it, where that is known. */
  readonly at?: number;
  /** The tensor, if that is all that the line prints. */
  readonly table?: Table;
}

/** A record of a log of edgegrad/vis, and the name of its run. */
export interface Recorded {
  readonly record: LogRecord;
  readonly run: string;
}

/** What the worker is to run: a module, and the modules that it imports by "./name", or a cell of Python. */
export interface CodeRequest {
  readonly code: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly python?: PythonRequest;
}

/** What a cell of Python needs. */
export interface PythonRequest {
  /** The address of the folder with Pyodide's files, and how many bytes they have. */
  readonly folder: string;
  readonly bytes: number;
  /** The address of the wheel of edgegrad. */
  readonly wheel: string;
  /** A byte, in which 2 interrupts Python; null where pages share no memory. */
  readonly interrupt: SharedArrayBuffer | null;
}

/** A point that the code plotted. */
export type Point = readonly [x: number, y: number];

/** The output of the code since the last message. */
export interface Output {
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
  readonly records: readonly Recorded[];
}

/** What a model says of the plane, and the points that it learns. */
export interface Painting {
  /** Values from -1 to 1, row by row from the top left. */
  readonly values: Float32Array;
  /** How many values a row has. */
  readonly width: number;
  readonly positions: Float32Array;
  readonly classes: Float32Array;
}

/** How much of Python has arrived, from 0 to 1; 1 when it has started. */
export interface Arrival {
  readonly arrived: number;
}

/** A message from the worker: output, a picture, how much of Python has arrived, or that the code has ended. */
export type FromCode = Output | { readonly painting: Painting } | Arrival | "ended";

/** A message to the worker: the code to run, or that the last picture was shown. */
export type ToCode = CodeRequest | "shown";
