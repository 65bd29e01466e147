// Reads data files as rows.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { checkOptions, kFunction, kObject } from "../options.js";
import { parseCsv } from "./csv.js";

const kWhere = "loadDataset";

/** A row by the names of its columns. */
export type Row = Record<string, unknown>;

/** The type of hyparquet's function `parquetReadObjects`. */
export type ParquetReader = (options: {
  /** The bytes of the file. */
  file: ArrayBuffer;
  /** Functions that decompress, by the names of their formats. */
  compressors?: Record<string, unknown>;
}) => Promise<Row[]>;

/** Options of `loadDataset`. */
export interface DatasetOptions {
  /** hyparquet's function, which reads Parquet files. */
  readonly parquetReadObjects?: ParquetReader | undefined;
  /** The `compressors` of hyparquet-compressors, for Parquet files with other compression than Snappy. */
  readonly compressors?: Readonly<Record<string, unknown>> | undefined;
}

const kOptions = { parquetReadObjects: kFunction, compressors: kObject };

type Reader = (name: string, bytes: Uint8Array, options: DatasetOptions) => Row[] | Promise<Row[]>;

const kReaders: Readonly<Record<string, Reader>> = {
  csv: (name, bytes) => parseCsv(placeOf(name), textOf(name, bytes), ","),
  tsv: (name, bytes) => parseCsv(placeOf(name), textOf(name, bytes), "\t"),
  json: readJson,
  jsonl: readLines,
  ndjson: readLines,
  parquet: readParquet,
};

/**
 * Reads the rows of a file in a folder. The extension gives its format: `.jsonl` or `.ndjson` (an object per line), `.json` (a list of objects), `.csv`
 * or `.tsv` (the first line names the columns; every value is a string), and `.parquet` with hyparquet's function:
 * `loadDataset(folder, "train.parquet", { parquetReadObjects })`. Rejects with InvalidArgument, which names the line, for a damaged file.
 */
export async function loadDataset(
  source: eg.io.FolderSource,
  name: string,
  options: DatasetOptions = {},
): Promise<Row[]> {
  checkOptions(kWhere, options, kOptions);
  const folder = await eg.io.openFolder(source);
  const bytes = await folder.bytes(name);
  const end = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const reader = Object.hasOwn(kReaders, end) ? kReaders[end] : undefined;
  if (reader === undefined) {
    const ends = Object.keys(kReaders).map((key) => `.${key}`);
    fail("InvalidArgument", kWhere, `${describe(name)} does not end in ${ends.join(", ")}.`);
  }
  if (bytes === null)
    fail("InvalidArgument", kWhere, `there is no ${describe(name)} in the folder.`);
  return await reader(name, bytes, options);
}

const placeOf = (name: string) => `${kWhere}: ${name}`;

function textOf(name: string, bytes: Uint8Array): string {
  try {
    // Skips a byte order mark.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return fail("InvalidArgument", placeOf(name), "the file is not UTF-8.");
  }
}

function readLines(name: string, bytes: Uint8Array): Row[] {
  const rows: Row[] = [];
  for (const [i, line] of textOf(name, bytes).split("\n").entries()) {
    if (line.trim() !== "") rows.push(asRow(name, `line ${i + 1}`, parse(name, i + 1, line)));
  }
  return rows;
}

function readJson(name: string, bytes: Uint8Array): Row[] {
  const list = parse(name, 1, textOf(name, bytes));
  if (!Array.isArray(list)) {
    fail("InvalidArgument", placeOf(name), `expected a list of objects, got ${describe(list)}.`);
  }
  return list.map((row, i) => asRow(name, `element ${i}`, row));
}

async function readParquet(
  name: string,
  bytes: Uint8Array,
  { parquetReadObjects, compressors }: DatasetOptions,
): Promise<Row[]> {
  if (parquetReadObjects === undefined) {
    const advice = "Pass { parquetReadObjects } of hyparquet";
    fail("InvalidArgument", placeOf(name), `a library reads such files. ${advice}.`);
  }
  // A copy, because a view of a larger buffer would be read from the wrong offset.
  const file = bytes.slice().buffer;
  try {
    return await parquetReadObjects({ file, ...(compressors && { compressors }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail("InvalidArgument", placeOf(name), `the file cannot be read: ${reason}.`);
  }
}

function parse(name: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `line ${line} is not JSON: ${(error as Error).message}.`;
    return fail("InvalidArgument", placeOf(name), message);
  }
}

function asRow(name: string, place: string, value: unknown): Row {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Row;
  const message = `${place}: expected an object, got ${describe(value)}.`;
  return fail("InvalidArgument", placeOf(name), message);
}
