// A chapter with a graph: evaluates it whenever a number changes, and shows its moments.

import type { GraphChapter } from "./chapters/chapter.js";
import { showDetails } from "./details_view.js";
import type { Expression } from "./expression.js";
import { GraphView } from "./graph_view.js";
import { InputsView, type Numbers } from "./inputs_view.js";
import type { Explanation, Stage } from "./stage.js";
import { knownAfter, type Step, stepsOf } from "./steps.js";
import { type Trace, trace } from "./trace.js";

export interface GraphElements {
  readonly graph: HTMLElement;
  readonly inputs: HTMLElement;
  readonly details: HTMLElement;
}

export class GraphStage implements Stage {
  readonly #elements: GraphElements;
  readonly #chapter: GraphChapter;
  readonly #graph: GraphView;
  readonly #inputs: InputsView;
  #trace: Trace;
  #steps: Step[];
  #step = 0;
  #chosen: number | null = null;

  /** `changed` is called after a number has changed. */
  constructor(
    elements: GraphElements,
    chapter: GraphChapter,
    numbers: Numbers,
    changed: () => void,
  ) {
    this.#elements = elements;
    this.#chapter = chapter;
    this.#inputs = new InputsView(elements.inputs, () => {
      this.#evaluate();
      changed();
    });
    this.#inputs.show(chapter, numbers);
    this.#graph = new GraphView(elements.graph, {
      choose: (value) => this.#choose(value),
      drag: (value, change) => this.#inputs.drag(this.#trace.values[value]?.name ?? "", change),
    });
    this.#trace = trace((expression) => this.#build(expression));
    this.#steps = stepsOf(this.#trace);
    this.#graph.draw(this.#trace);
  }

  get last(): number {
    return this.#steps.length - 1;
  }

  get numbers(): Readonly<Numbers> {
    return this.#inputs.numbers;
  }

  /** The present numbers. */
  get trace(): Trace {
    return this.#trace;
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

  #evaluate(): void {
    this.#trace = trace((expression) => this.#build(expression));
    this.#steps = stepsOf(this.#trace);
    this.#update();
  }

  #build(expression: Expression): void {
    const { numbers, tensors = [], build } = this.#chapter;
    const given = this.#inputs.numbers;
    const ofNumbers = numbers.map(({ name, isData = false }) =>
      expression.input(name, given[name]?.[0] ?? 0, { isData }),
    );
    const ofTensors = tensors.map(({ name, rows, isVector = false, isData = false }) => {
      const all = given[name] ?? [];
      const width = rows[0]?.length ?? 1;
      const data = isVector ? all : rows.map((_, i) => all.slice(i * width, (i + 1) * width));
      return expression.input(name, data, { isData });
    });
    build(expression, ...ofNumbers, ...ofTensors);
  }
}
