// A chapter with a graph: shows its moments, also for numbers that have changed.

import type { GraphChapter } from "./chapters/chapter.js";
import { showDetails } from "./details_view.js";
import { GraphView } from "./graph_view.js";
import { InputsView, type Numbers } from "./inputs_view.js";
import type { Explanation, Stage } from "./stage.js";
import { knownAfter, type Step, stepsOf } from "./steps.js";
import type { Trace } from "./trace.js";

export interface GraphElements {
  readonly graph: HTMLElement;
  readonly inputs: HTMLElement;
  readonly details: HTMLElement;
}

export class GraphStage implements Stage {
  readonly #elements: GraphElements;
  readonly #graph: GraphView;
  readonly #inputs: InputsView;
  #trace: Trace;
  #steps: Step[];
  #step = 0;
  #chosen: number | null = null;

  /** `first` is the trace of these numbers; `changed` is called after a number has changed, and take() brings the new trace. */
  constructor(
    elements: GraphElements,
    chapter: GraphChapter,
    numbers: Numbers,
    { first, changed }: { first: Trace; changed: () => void },
  ) {
    this.#elements = elements;
    this.#inputs = new InputsView(elements.inputs, changed);
    this.#inputs.show(chapter, numbers);
    this.#graph = new GraphView(elements.graph, {
      choose: (value) => this.#choose(value),
      drag: (value, change) => this.#inputs.drag(this.#trace.values[value]?.name ?? "", change),
    });
    this.#trace = first;
    this.#steps = stepsOf(first);
    this.#graph.draw(first);
  }

  get last(): number {
    return this.#steps.length - 1;
  }

  get numbers(): Readonly<Numbers> {
    return this.#inputs.numbers;
  }

  /** What the engine made of the present numbers. */
  get trace(): Trace {
    return this.#trace;
  }

  /** Shows what the engine made of changed numbers, at the same moment. */
  take(trace: Trace): void {
    this.#trace = trace;
    this.#steps = stepsOf(trace);
    this.#update();
  }

  show(step: number): Explanation {
    this.#step = step;
    this.#chosen = null;
    return this.#update();
  }

  /** The explanation of the present moment. */
  get explanation(): Explanation {
    return this.#steps[this.#step] as Step;
  }

  #update(): Explanation {
    const now = this.#steps[this.#step] as Step;
    const known = knownAfter(this.#trace, this.#steps, this.#step);
    this.#graph.show(this.#trace, known, now);
    const shown = this.#chosen ?? Math.max(now.value, 0);
    this.#graph.mark(shown);
    showDetails(this.#elements.details, this.#trace, known, shown);
    return now;
  }

  #choose(value: number): void {
    this.#chosen = value;
    this.#update();
  }
}
