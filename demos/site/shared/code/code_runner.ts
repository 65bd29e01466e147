// Runs a visitor's code in a separate worker: an endless loop does not block the page, and ends with its worker.

import type { CodeRequest, FromCode, Line, Output, Painting, ToCode } from "./code_messages.js";

export type { Line, Output, Painting, Point, Table } from "./code_messages.js";

export class CodeRunner {
  readonly #show: (output: Output) => void;
  readonly #paint: (painting: Painting) => Promise<void>;
  #worker: Worker | null = null;
  #end: () => void = () => {};
  // Aborted when another run listens to the worker.
  #listening = new AbortController();

  readonly #arrive: (part: number) => void;

  /**
   * `show` receives the output of the code while it runs, `paint` pictures (it resolves when one is shown), and `arrive` the share of Python
   * that has arrived, from 0 to 1.
   */
  constructor(
    show: (output: Output) => void,
    paint: (painting: Painting) => Promise<void> = async () => {},
    arrive: (part: number) => void = () => {},
  ) {
    this.#show = show;
    this.#paint = paint;
    this.#arrive = arrive;
  }

  /**
   * Runs a module that may import "edgegrad" and call plot(x, y) and paint(model, points, classes), in a new worker, so that no state
   * of the last run is left. Resolves when the module has run to its end, or was stopped; pending callbacks continue until the next run or stop().
   */
  async run(code: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
    this.stop();
    await this.runOn({ code, files });
  }

  /** Runs code in the worker of the last run, with what that has left. Resolves to whether it was not stopped. */
  runOn(request: CodeRequest): Promise<boolean> {
    this.#listening.abort();
    this.#listening = new AbortController();
    this.#worker ??= startWorker();
    const worker = this.#worker;
    let shown = Promise.resolve();
    const show = (output: Output) => {
      shown = shown.then(async () => this.#show(await withLines(output, request.code)));
    };
    return new Promise((resolve) => {
      const end = (isDone: boolean) => void shown.then(() => resolve(isDone));
      this.#end = () => end(false);
      const hear = ({ data }: MessageEvent<FromCode>) => {
        if (data === "ended") end(true);
        else if ("arrived" in data) this.#arrive(data.arrived);
        else if ("painting" in data) {
          void this.#paint(data.painting).then(() => worker.postMessage("shown" satisfies ToCode));
        } else show(data);
      };
      const fail = (event: ErrorEvent) => {
        event.preventDefault();
        const text = event.message || "The worker of this code could not be started.";
        show({ lines: [{ kind: "error", text }], points: [], records: [] });
        end(false);
      };
      const { signal } = this.#listening;
      worker.addEventListener("message", hear, { signal });
      worker.addEventListener("error", fail, { signal });
      worker.postMessage(request satisfies ToCode);
    });
  }

  /** Terminates the code, whatever it is doing. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#end();
  }
}

function startWorker(): Worker {
  return new Worker(new URL("./code_worker.ts", import.meta.url), { type: "module" });
}

// Errors begin with their line. Browsers do not say where a module breaks the grammar: the parser of the editor does, which a page
// without such errors does not load.
async function withLines(output: Output, code: string): Promise<Output> {
  if (!output.lines.some(({ kind }) => kind === "error")) return output;
  const located = async (line: Line): Promise<Line> => {
    if (line.kind !== "error") return line;
    const at = line.at ?? (await brokenLine(line, code));
    return at === null ? line : { ...line, at, text: `line ${at}: ${line.text}` };
  };
  return { ...output, lines: await Promise.all(output.lines.map(located)) };
}

async function brokenLine({ text }: Line, code: string): Promise<number | null> {
  if (!text.startsWith("SyntaxError")) return null;
  const { syntaxLine } = await import("./syntax_line.js");
  return syntaxLine(code);
}
