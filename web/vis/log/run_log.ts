// Logs: the records of one or more training runs in memory, for charts and other listeners.

import { fail, refuse } from "../../errors/errors.js";
import { kKinds, type LogRecord, placeOf, type RecordKind } from "./record.js";
import { Recorder } from "./recorder.js";
import { Series } from "./series.js";

/** Called with every new record of a log and the name of its run. */
export type LogListener = (record: LogRecord, run: string) => void;

/** The handle of a listener. */
export interface ListenerHandle {
  /** Removes the listener. */
  remove(): void;
}

/** The number of records that a log keeps of each series, by kind. A longer series is thinned out by dropping every second record. */
export interface LogOptions {
  /** The maximum number of scalars of a series; default 10,000. */
  scalar?: number;
  /** The maximum number of histograms of a series; default 200. */
  histogram?: number;
  /** The maximum number of images of a series; default 20. */
  image?: number;
  /** The maximum number of matrices of a series; default 20. */
  matrix?: number;
  /** The maximum number of texts of a series; default 200. */
  text?: number;
}

const kDefaults: Required<LogOptions> = {
  scalar: 10_000,
  histogram: 200,
  image: 20,
  matrix: 20,
  text: 200,
};

/** The records of one or more runs, in memory. Training loops add records, and charts, writers and other listeners read them. */
export class RunLog {
  readonly #runs = new Map<string, Run>();
  readonly #listeners = new Set<LogListener>();
  readonly #limits: Required<LogOptions>;

  /** Creates an empty log. */
  constructor(options: LogOptions = {}) {
    this.#limits = limitsOf(options);
  }

  /** The runs of the log, in the order of their creation. */
  get runs(): readonly Run[] {
    return [...this.#runs.values()];
  }

  /** Returns the run with a name; creates it if it does not exist. */
  run(name: string): Run {
    if (typeof name !== "string" || name === "")
      refuse("RunLog.run", "name", "a text that is not empty", name);
    let run = this.#runs.get(name);
    if (run === undefined) {
      run = new Run(name, this.#limits, (record) => this.#tell(record, name));
      this.#runs.set(name, run);
    }
    return run;
  }

  /** Calls a function with every record from now on. */
  listen(listener: LogListener): ListenerHandle {
    if (typeof listener !== "function") refuse("RunLog.listen", "listener", "a function", listener);
    this.#listeners.add(listener);
    return { remove: () => void this.#listeners.delete(listener) };
  }

  /** Returns the tags of all runs with records of a kind, in the order of their first records. */
  tags(kind: RecordKind): string[] {
    return [...new Set(this.runs.flatMap((run) => run.tags(kind)))];
  }

  /** Resolves when the values of all added tensors have arrived. */
  async settled(): Promise<void> {
    await Promise.all(this.runs.map((run) => run.settled()));
  }

  #tell(record: LogRecord, run: string): void {
    for (const listener of [...this.#listeners]) listener(record, run);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** One run of a log: a recorder that keeps its records. */
export class Run extends Recorder {
  readonly #series = new Map<RecordKind, Map<string, Series>>(
    kKinds.map((kind) => [kind, new Map()]),
  );
  readonly #limits: Required<LogOptions>;
  readonly #tell: (record: LogRecord) => void;

  /** @internal */
  constructor(
    /** The name of the run. */
    readonly name: string,
    limits: Required<LogOptions>,
    tell: (record: LogRecord) => void,
  ) {
    super();
    this.#limits = limits;
    this.#tell = tell;
  }

  /** Returns the tags with records of a kind, in the order of their first records. */
  tags(kind: RecordKind): string[] {
    return [...this.#of(kind).keys()];
  }

  /** Returns the records of a series in the order in which they were added; an empty list if there are none. */
  records<Kind extends RecordKind>(kind: Kind, tag: string): readonly LogRecord<Kind>[] {
    return (this.#of(kind).get(tag)?.records ?? []) as readonly LogRecord<Kind>[];
  }

  /** Returns the newest record of a series, or null. */
  latest<Kind extends RecordKind>(kind: Kind, tag: string): LogRecord<Kind> | null {
    return this.records(kind, tag).at(-1) ?? null;
  }

  /** Returns all kept records, from the oldest to the newest. */
  all(): LogRecord[] {
    const records = kKinds.flatMap((kind) =>
      [...this.#of(kind).values()].flatMap((series) => [...series.records]),
    );
    return records.sort((a, b) => a.wallTime - b.wallTime);
  }

  /** Adds a record from the listener of a log in another thread: records can be posted as they are. */
  override take(record: LogRecord): void {
    if (typeof record !== "object" || record === null) refuse("Run.take", "record", "one", record);
    placeOf("Run.take", record.tag, record.step);
    const series = this.#of(record.kind);
    let ofTag = series.get(record.tag);
    if (ofTag === undefined) {
      ofTag = new Series(this.#limits[record.kind]);
      series.set(record.tag, ofTag);
    }
    ofTag.add(record);
    this.#tell(record);
  }

  protected override accept(): void {}

  #of(kind: RecordKind): Map<string, Series> {
    const expected = kKinds.join(", ");
    return (
      this.#series.get(kind) ??
      fail("InvalidArgument", "Run", `kind: expected one of ${expected}, got ${String(kind)}.`)
    );
  }
}

/** Returns an empty log. */
export function createLog(options: LogOptions = {}): RunLog {
  return new RunLog(options);
}

function limitsOf(options: LogOptions): Required<LogOptions> {
  if (typeof options !== "object" || options === null)
    refuse("createLog", "options", "an object", options);
  for (const [name, limit] of Object.entries(options)) {
    if (!Object.hasOwn(kDefaults, name))
      refuse("createLog", "options", `names among ${kKinds.join(", ")}`, name);
    if (!Number.isSafeInteger(limit) || limit < 2)
      refuse("createLog", name, "an integer from 2 on", limit);
  }
  return { ...kDefaults, ...options };
}
