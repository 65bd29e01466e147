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
  /** The tensor, if that is all that the line prints. */
  readonly table?: Table;
}

/** A record of a log of edgegrad/vis, and the name of its run. */
export interface Recorded {
  readonly record: LogRecord;
  readonly run: string;
}

/** What the worker is to run: a module, and the modules that it imports by "./name". */
export interface CodeRequest {
  readonly code: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** A point that the code plotted. */
export type Point = readonly [x: number, y: number];

/** The output of the code since the last message. */
export interface Output {
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
  readonly records: readonly Recorded[];
}

/** A message from the worker: output, or that the module has ended. */
export type FromCode = Output | "ended";
