// Runs the program of the editor in a worker, where an endless loop stops nobody.

import { expose } from "comlink";
import * as eg from "edgegrad";

/** What a program has done since it was last told. */
export interface Progress {
  readonly lines: readonly string[];
  readonly points: readonly number[];
}

type Program = (...given: unknown[]) => Promise<void>;

const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => Program;

// As often as a page can draw.
const kReportMs = 40;

class Runner {
  /** Runs a program; resolves, when it has ended, to the engine that ran it. */
  async run(text: string, report: (progress: Progress) => void): Promise<eg.RuntimeInfo> {
    const reporter = new Reporter(report);
    const output = { ...console, log: (...values: unknown[]) => reporter.print(values) };
    try {
      const program = new AsyncFunction("kPackage", "plot", "console", withoutImports(text));
      await program(eg, (value: unknown) => reporter.plot(value), output);
    } catch (error) {
      // Of an error only the message leaves a worker.
      throw error instanceof eg.EdgeGradError
        ? new Error(`${error.code}: ${error.message}`)
        : error;
    } finally {
      reporter.flush();
    }
    await eg.init();
    return eg.runtime();
  }
}

class Reporter {
  #lines: string[] = [];
  #points: number[] = [];
  #next = 0;
  readonly #report: (progress: Progress) => void;

  constructor(report: (progress: Progress) => void) {
    this.#report = report;
  }

  print(values: readonly unknown[]): void {
    this.#lines.push(values.map(textOf).join(" "));
    this.#flushSometimes();
  }

  plot(value: unknown): void {
    if (typeof value !== "number") throw new TypeError("plot() takes a number: loss.item()");
    this.#points.push(value);
    this.#flushSometimes();
  }

  flush(): void {
    if (this.#lines.length + this.#points.length === 0) return;
    this.#report({ lines: this.#lines, points: this.#points });
    this.#lines = [];
    this.#points = [];
    this.#next = performance.now() + kReportMs;
  }

  #flushSometimes(): void {
    if (performance.now() >= this.#next) this.flush();
  }
}

// The text of a function has no imports; the one package there is comes as an argument.
function withoutImports(text: string): string {
  const kImport = /^\s*import\s+(?:\*\s+as\s+(\w+)|(\{[^}]*\}))\s+from\s+(['"])edgegrad\3\s*;?/gm;
  return text.replace(kImport, (_, name: string | undefined, names: string | undefined) => {
    return `const ${name ?? names?.replace(/\bas\b/g, ":")} = kPackage;`;
  });
}

function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const hasOwnText =
    value instanceof eg.Tensor || value instanceof eg.nn.Module || value instanceof Error;
  return hasOwnText ? String(value) : JSON.stringify(value);
}

export type { Runner };

expose(new Runner());
