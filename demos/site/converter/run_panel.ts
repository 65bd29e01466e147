// The card that runs the model: fields for the sizes that the file leaves open, and the results.

import type { GraphValue } from "edgegrad/onnx";
import { byId } from "../shared/frame.js";
import { errorText } from "../shared/printed.js";
import { shapeText } from "./graph/picture.js";
import type { Fill, Output, RunOptions, RunResult } from "./messages.js";
import { openSizes } from "./open_sizes.js";
import { PagedTable } from "./paged_table.js";

export class RunPanel {
  readonly #note = byId("run-note");
  readonly #button = byId<HTMLButtonElement>("run");
  readonly #table = new PagedTable(byId("results"), {
    caption: "Results",
    columns: ["Output", "Type", "Shape", "Values"],
  });
  readonly #fields = new Map<string, HTMLInputElement>();
  readonly #run: (options: RunOptions) => Promise<RunResult>;

  /** `changed` is called when a size is changed. */
  constructor(run: (options: RunOptions) => Promise<RunResult>, changed: () => void) {
    this.#run = run;
    byId("run-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#submit();
    });
    byId("sizes").addEventListener("change", changed);
  }

  /** Shows the inputs of a model. */
  show(inputs: readonly GraphValue[]): void {
    const texts = inputs.map(
      ({ name, dtype, shape, hasShape }) =>
        `${name}: ${dtype} ${hasShape ? shapeText(shape) : "of any shape"}`,
    );
    byId("inputs").textContent = texts.join("; ");
    byId<HTMLSelectElement>("fill").value = "normal";
    this.#note.textContent = "";
    byId("results").hidden = true;
    this.#fields.clear();
    byId("sizes").replaceChildren(
      ...openSizes(inputs).map(({ key, label, value }) => {
        const element = document.createElement("label");
        const field = document.createElement("input");
        Object.assign(field, { type: "number", min: "0", max: "100000", required: true });
        field.value = String(value);
        element.append(`${label} `, field);
        this.#fields.set(key, field);
        return element;
      }),
    );
  }

  /** The chosen sizes by their keys. */
  get sizes(): Record<string, number> {
    return Object.fromEntries([...this.#fields].map(([key, { value }]) => [key, Number(value)]));
  }

  async #submit(): Promise<void> {
    this.#button.disabled = true;
    this.#note.className = "";
    this.#note.textContent = "Running …";
    byId("results").hidden = true;
    try {
      const result = await this.#run({
        sizes: this.sizes,
        fill: byId<HTMLSelectElement>("fill").value as Fill,
        below: Number(byId<HTMLInputElement>("below").value),
      });
      this.#show(result);
    } catch (error) {
      this.#note.className = "problem";
      this.#note.textContent = errorText(error);
    } finally {
      this.#button.disabled = false;
    }
  }

  #show({ inputs, outputs, first, next }: RunResult): void {
    this.#note.textContent = `${inputs.join(", ")}: ${msText(next)} (the first time ${msText(first)})`;
    this.#table.show(outputs.length, (i) => cellsOf(outputs[i] as Output));
    byId("results").hidden = false;
  }
}

function cellsOf({ name, dtype, shape, text }: Output): string[] {
  return [name, dtype, `[${shape.join(", ")}]`, text];
}

function msText(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
