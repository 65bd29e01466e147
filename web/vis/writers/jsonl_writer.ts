// JsonlWriter: records as lines of JSON.

import type { Bytes } from "edgegrad";
import type { LogRecord } from "../log/record.js";
import { FileWriter } from "./file_writer.js";
import { type ByteStream, sinkOf } from "./sink.js";

/**
 * Writes scalars, histograms, matrices and texts as JSON, one object per line: `{"kind":"scalar","tag":"loss","step":1,"wallTime":...,"value":0.5}`.
 * Numbers that JSON lacks are the strings "NaN", "Infinity" and "-Infinity".
 */
export class JsonlWriter extends FileWriter {
  /** Creates a writer. `target` is the path of a file in Node, to which lines are appended, or a stream; without a target, `bytes()` returns the file. */
  constructor(target?: string | ByteStream) {
    super(sinkOf("JsonlWriter", target), ["scalar", "histogram", "matrix", "text"]);
  }

  protected override encode(record: LogRecord): Bytes {
    return new TextEncoder().encode(`${JSON.stringify(record, plain)}\n`);
  }
}

function plain(_: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
