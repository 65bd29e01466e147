// The view of the network: features to choose, layers and neurons to add and remove, each with a picture of its output over the
// plane, and the weights between them as lines.

import { button, element } from "../shared/elements.js";
import { kThemeChanged } from "../shared/frame.js";
import { signColors, signedImage } from "../shared/signed_image.js";
import {
  type Feature,
  featureOnGrid,
  kFeatureNames,
  kGrid,
  kMostLayers,
  kMostNeurons,
} from "./settings.js";
import { drawLines } from "./weight_lines.js";

/** The actions of a visitor; the view shows their results when it is updated. */
export interface NetworkActions {
  toggle(feature: Feature): void;
  setHidden(hidden: readonly number[]): void;
  /** Selects what is shown large. */
  lookAt(look: Look): void;
}

/** What is shown large: the neuron with an index (null for the output), or constant values. */
export interface Look {
  readonly title: string;
  readonly unit: number | null;
  readonly values: Float32Array | null;
}

/** What the large picture shows at first. */
export const kOutput: Look = { title: "Output", unit: null, values: null };

interface Unit {
  readonly button: HTMLButtonElement;
  readonly canvas: HTMLCanvasElement;
}

export class NetworkView {
  readonly #element: HTMLElement;
  readonly #lines = document.createElement("canvas");
  readonly #actions: NetworkActions;
  readonly #featureValues = new Map(kFeatureNames.map((name) => [name, featureOnGrid(name)]));
  #colors = signColors();
  // The selected features, the neurons of each layer, and the output.
  #columns: HTMLElement[][] = [];
  #features: Unit[] = [];
  #units: Unit[] = [];
  #pinned: Look = kOutput;
  #planes: Float32Array | null = null;
  #weights: readonly Float32Array[] = [];

  constructor(element: HTMLElement, actions: NetworkActions) {
    this.#element = element;
    this.#actions = actions;
    this.#lines.className = "lines";
    const redraw = () => requestAnimationFrame(() => this.#drawLines());
    new ResizeObserver(redraw).observe(element);
    document.addEventListener(kThemeChanged, () => {
      this.#colors = signColors();
      this.#drawFeatures();
      this.#drawNow();
    });
  }

  /** Shows a network with this structure, before it has values. */
  build(features: readonly Feature[], hidden: readonly number[]): void {
    const focused = document.activeElement?.getAttribute("aria-label");
    this.#units = [];
    this.#planes = null;
    this.#weights = [];
    this.#pin(kOutput);
    const inputs = this.#featureColumn(features);
    const layers = hidden.map((count, i) => this.#layerColumn(hidden, i, count));
    const output = this.#outputColumn(hidden);
    this.#element.replaceChildren(this.#lines, inputs, ...layers, output);
    this.#drawFeatures();
    // Restores the focus: the pressed button has been replaced by another element.
    const again = focused && this.#element.querySelector(`[aria-label="${CSS.escape(focused)}"]`);
    if (again) (again as HTMLElement).focus();
  }

  /** Shows the output of each neuron, and the weights. */
  show(planes: Float32Array, weights: readonly Float32Array[]): void {
    this.#planes = planes;
    this.#weights = weights;
    this.#drawNow();
  }

  #drawNow(): void {
    if (this.#planes !== null) {
      const size = kGrid * kGrid;
      this.#units.forEach(({ canvas }, i) => {
        this.#draw(canvas, this.#planes?.subarray(i * size, (i + 1) * size) as Float32Array);
      });
    }
    this.#drawLines();
  }

  #drawLines(): void {
    drawLines(this.#lines, this.#element, this.#columns, this.#weights, this.#colors);
  }

  #drawFeatures(): void {
    this.#features.forEach(({ canvas }, i) => {
      const values = this.#featureValues.get(kFeatureNames[i] as Feature);
      if (values !== undefined) this.#draw(canvas, values);
    });
  }

  #draw(canvas: HTMLCanvasElement, values: Float32Array): void {
    canvas.getContext("2d")?.putImageData(signedImage(values, 1, this.#colors), 0, 0);
  }

  #featureColumn(chosen: readonly Feature[]): HTMLElement {
    const column = columnOf("Features");
    this.#features = kFeatureNames.map((name) => {
      const unit = makeUnit(name, name);
      unit.button.setAttribute("aria-pressed", String(chosen.includes(name)));
      unit.button.addEventListener("click", () => this.#actions.toggle(name));
      this.#lookOnHover(unit.button, () => {
        const values = this.#featureValues.get(name) ?? null;
        this.#actions.lookAt({ title: name, unit: null, values });
      });
      column.append(unit.button);
      return unit;
    });
    const inUse = this.#features.filter((_, i) => chosen.includes(kFeatureNames[i] as Feature));
    this.#columns = [inUse.map(({ button }) => button)];
    return column;
  }

  #layerColumn(hidden: readonly number[], layer: number, count: number): HTMLElement {
    const resize = (by: number) =>
      this.#actions.setHidden(hidden.map((size, i) => (i === layer ? size + by : size)));
    const name = `Layer ${layer + 1}`;
    const less = smallButton("−", `${name}: one neuron less`, () => resize(-1), count > 1);
    const more = smallButton(
      "+",
      `${name}: one neuron more`,
      () => resize(1),
      count < kMostNeurons,
    );
    const column = columnOf(name, less, more);
    this.#columns.push([]);
    for (let i = 0; i < count; i++) column.append(this.#addNeuron(`${name}, neuron ${i + 1}`));
    return column;
  }

  #outputColumn(hidden: readonly number[]): HTMLElement {
    const change = (to: readonly number[]) => () => this.#actions.setHidden(to);
    const less = smallButton("−", "One layer less", change(hidden.slice(0, -1)), hidden.length > 0);
    const wide = [...hidden, hidden.at(-1) ?? 4];
    const more = smallButton("+", "One layer more", change(wide), hidden.length < kMostLayers);
    const column = columnOf("Layers", less, more);
    this.#columns.push([]);
    column.append(this.#addNeuron("Output"));
    return column;
  }

  #addNeuron(label: string): HTMLElement {
    const look = { title: label, unit: this.#units.length, values: null };
    const unit = makeUnit(label, "");
    unit.button.setAttribute("aria-pressed", "false");
    unit.button.addEventListener("click", () => this.#pin(this.#pinned === look ? kOutput : look));
    this.#lookOnHover(unit.button, () => this.#actions.lookAt(look));
    this.#units.push(unit);
    this.#columns.at(-1)?.push(unit.button);
    return unit.button;
  }

  #lookOnHover(button: HTMLElement, look: () => void): void {
    const back = () => this.#actions.lookAt(this.#pinned);
    button.addEventListener("pointerenter", look);
    button.addEventListener("pointerleave", back);
    button.addEventListener("focus", look);
    button.addEventListener("blur", back);
  }

  #pin(look: Look): void {
    this.#pinned = look;
    this.#units.forEach(({ button }, i) => {
      button.setAttribute("aria-pressed", String(i === look.unit));
    });
    this.#actions.lookAt(look);
  }
}

function columnOf(title: string, ...buttons: HTMLElement[]): HTMLElement {
  const column = document.createElement("div");
  column.className = "layer";
  const head = document.createElement("div");
  head.className = "layer-head";
  const name = document.createElement("span");
  name.textContent = title;
  head.append(name, ...buttons);
  column.append(head);
  return column;
}

function makeUnit(label: string, text: string): Unit {
  const made = button("", { className: "unit" });
  made.setAttribute("aria-label", label);
  const canvas = element("canvas");
  canvas.width = kGrid;
  canvas.height = kGrid;
  made.append(canvas, text);
  return { button: made, canvas };
}

function smallButton(text: string, label: string, act: () => void, isOn: boolean): HTMLElement {
  const made = button(text, { className: "small", press: act });
  made.disabled = !isOn;
  made.setAttribute("aria-label", label);
  return made;
}
