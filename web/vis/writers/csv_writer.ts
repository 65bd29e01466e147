// CsvWriter: scalars as CSV.

import type { Bytes } from "edgegrad";
import type { LogRecord } from "../log/record.js";
import { FileWriter } from "./file_writer.js";
import { type ByteStream, hasContent, sinkOf } from "./sink.js";

const kHeader = "wall_time,step,tag,value\n";

/** Writes scalars as CSV, one per line: `wall_time,step,tag,value`. NaN and infinities are `NaN`, `Infinity` and `-Infinity`. */
export class CsvWriter extends FileWriter {
  /** Creates a writer. `target` is the path of a file in Node, to which lines are appended, or a stream; without a target, `bytes()` returns the file. */
  constructor(target?: string | ByteStream) {
    super(sinkOf("CsvWriter", target), ["scalar"]);
    if (typeof target !== "string" || !hasContent(target)) this.#line(kHeader);
  }

  protected override encode({ wallTime, step, tag, value }: LogRecord): Bytes {
    return encode(`${wallTime},${step},${quote(tag)},${value}\n`);
  }

  #line(text: string): void {
    this.write(encode(text));
  }
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text);
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
