// The base classes of panels of a log: they follow the log, and let the visitor choose a run and a tag.

import type { LogRecord, RecordKind } from "../log/record.js";
import type { ListenerHandle, Run, RunLog } from "../log/run_log.js";
import { element } from "./dom.js";
import { Panel } from "./panel.js";

/** A panel of a log. */
export abstract class LogPanel extends Panel {
  #log: RunLog | null = null;
  #listening: ListenerHandle | null = null;

  /** The displayed log. */
  protected get log(): RunLog | null {
    return this.#log;
  }

  override show(log: RunLog | null): void {
    if (log === this.#log) return;
    this.#stop();
    this.#log = log;
    this.#start();
    this.redraw();
  }

  /** The kind of records that the panel displays. */
  protected abstract readonly kind: RecordKind;

  override connected(): void {
    super.connected();
    this.#start();
  }

  override disconnected(): void {
    this.#stop();
  }

  #start(): void {
    if (!this.host.isConnected || this.#listening !== null || this.#log === null) return;
    this.#listening = this.#log.listen(({ kind }) => {
      if (kind === this.kind) this.redraw();
    });
  }

  #stop(): void {
    this.#listening?.remove();
    this.#listening = null;
  }
}

/** A panel of one series: that of the attributes `run` and `tag`, or one that the visitor chooses. */
export abstract class SeriesPanel<Kind extends RecordKind> extends LogPanel {
  protected abstract override readonly kind: Kind;
  readonly #runs = new Choice("Run", () => this.redraw());
  readonly #tags = new Choice("Series", () => this.redraw());
  readonly #steps = new StepSlider(() => this.redraw());

  constructor(host: HTMLElement) {
    super(host);
    this.controls.append(this.#runs.label, this.#tags.label, this.#steps.label);
  }

  /** Returns the displayed record: that of the chosen step, or the newest one. */
  protected record(): LogRecord<Kind> | null {
    const records = this.records();
    return records[this.#steps.update(records)] ?? null;
  }

  /** Returns the records of the series. */
  protected records(): readonly LogRecord<Kind>[] {
    const runs = this.log?.runs.filter((run) => run.tags(this.kind).length > 0) ?? [];
    const name = this.#runs.update(
      runs.map((run) => run.name),
      this.host.getAttribute("run"),
    );
    const run = runs.find((run) => run.name === name) as Run | undefined;
    const tag = this.#tags.update(run?.tags(this.kind) ?? [], this.host.getAttribute("tag"));
    return run === undefined || tag === null ? [] : run.records(this.kind, tag);
  }

  protected override defaultHeading(): string {
    return this.host.getAttribute("tag") ?? this.#tags.value ?? "";
  }
}

/** A selection of a name, which is hidden if there is nothing to choose. */
class Choice {
  readonly label: HTMLLabelElement;
  readonly #select = element("select");
  #names: readonly string[] = [];
  value: string | null = null;

  constructor(title: string, changed: () => void) {
    this.label = element("label", { hidden: true }, title, this.#select);
    this.#select.addEventListener("change", () => {
      this.value = this.#select.value;
      changed();
    });
  }

  /** Returns the chosen name: the given one, otherwise that of the visitor, otherwise the first. */
  update(names: readonly string[], given: string | null): string | null {
    this.label.hidden = given !== null || names.length < 2;
    if (given !== null) return given;
    if (this.value === null || !names.includes(this.value)) this.value = names[0] ?? null;
    if (names.join("\n") !== this.#names.join("\n")) {
      this.#names = names;
      this.#select.replaceChildren(...names.map((name) => element("option", {}, name)));
    }
    if (this.value !== null) this.#select.value = this.value;
    return this.value;
  }
}

/** A slider over the records of a series, which follows the newest one until it is moved. */
class StepSlider {
  readonly label: HTMLLabelElement;
  readonly #input = element("input", { type: "range", min: 0, step: 1 });
  readonly #output = element("output");
  #isAtNewest = true;

  constructor(changed: () => void) {
    this.label = element("label", { hidden: true }, "Step", this.#input, this.#output);
    this.#input.addEventListener("input", () => {
      this.#isAtNewest = this.#input.value === this.#input.max;
      changed();
    });
  }

  /** Returns the index of the chosen record. */
  update(records: readonly { step: number }[]): number {
    const newest = records.length - 1;
    this.label.hidden = records.length < 2;
    this.#input.max = String(Math.max(0, newest));
    if (this.#isAtNewest) this.#input.value = this.#input.max;
    const at = Math.min(newest, Number(this.#input.value));
    const step = String(records[at]?.step ?? "");
    this.#output.textContent = step;
    this.#input.setAttribute("aria-valuetext", `step ${step}`);
    return at;
  }
}
