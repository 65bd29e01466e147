// The custom elements. They are defined when edgegrad/vis is imported, because frameworks look up the properties of an element only once, when
// they create it. So they are small, and the code that draws them is loaded with the first element in the page.

import { describe, refuse } from "../../errors/errors.js";
import { ensureLanguage } from "../language.js";
import { ModuleSummary } from "../model/summary.js";
import type { TapeGraph } from "../model/tape_graph.js";
import { StepProfile } from "../profile/step_profile.js";
import type { PanelName, ProfileData, SummaryData } from "./page_elements.js";
import type { Panel } from "./panel.js";

/** The property of an element. */
interface Property {
  readonly name: string;
  readonly expected: string;
  /** Converts a value other than null and undefined to what is displayed; null if the value is invalid. */
  readonly read: (value: never) => unknown;
}

const kLog: Property = {
  name: "log",
  expected: "a RunLog",
  read: (log: { listen?: unknown }) => (typeof log.listen === "function" ? log : null),
};

const kSeries = ["run", "tag"];

const kElements: Readonly<Record<PanelName, readonly [Property, ...attributes: string[]]>> = {
  "eg-attention-map": [kLog, ...kSeries],
  "eg-confusion-matrix": [kLog, ...kSeries],
  "eg-histogram": [kLog, ...kSeries],
  "eg-image-grid": [kLog, ...kSeries],
  "eg-line-chart": [kLog, "tags", "runs", "smoothing", "scale"],
  "eg-profile": [
    {
      name: "profile",
      expected: "what profileStep() returned",
      read: ({ events, time }: ProfileData) =>
        Array.isArray(events) ? new StepProfile(events, time) : null,
    },
  ],
  "eg-projector": [kLog, ...kSeries],
  "eg-summary-table": [
    {
      name: "summary",
      expected: "what summary() returned",
      read: ({ rows, inputBytes, outputBytes }: SummaryData) =>
        Array.isArray(rows) ? new ModuleSummary(rows, inputBytes, outputBytes) : null,
    },
  ],
  "eg-tape-graph": [
    {
      name: "graph",
      expected: "what tapeGraph() returned",
      read: (graph: TapeGraph) =>
        Array.isArray(graph.nodes) && Array.isArray(graph.edges) ? graph : null,
    },
  ],
};

/** Defines the elements that are not defined yet; does nothing outside of a page. */
export function define(): void {
  if (globalThis.customElements === undefined || globalThis.HTMLElement === undefined) return;
  for (const [name, [property, ...attributes]] of Object.entries(kElements))
    if (customElements.get(name) === undefined)
      customElements.define(name, shellOf(name as PanelName, property, attributes));
}

let loading: Promise<typeof import("./index.js")> | null = null;

/** Loads the code that draws the elements. */
export function load(): Promise<typeof import("./index.js")> {
  ensureLanguage();
  loading ??= import("./index.js");
  return loading;
}

// The class is created by a function, because outside of a page there is no HTMLElement to extend.
function shellOf(
  name: PanelName,
  property: Property,
  attributes: readonly string[],
): CustomElementConstructor {
  const texts = ["heading", ...attributes];
  class Shell extends HTMLElement {
    static readonly observedAttributes = [property.name, ...texts];

    #value: unknown = null;
    #panel: Panel | null = null;

    static {
      Object.defineProperty(Shell.prototype, property.name, {
        get(this: Shell) {
          return this.#value;
        },
        set(this: Shell, given: unknown) {
          this.#show(given);
        },
        enumerable: true,
        configurable: true,
      });
      // Some frameworks set only properties.
      for (const text of texts)
        Object.defineProperty(Shell.prototype, text, {
          get(this: Shell) {
            return this.getAttribute(text);
          },
          set(this: Shell, given: unknown) {
            if (given == null) this.removeAttribute(text);
            else this.setAttribute(text, String(given));
          },
          enumerable: true,
          configurable: true,
        });
    }

    connectedCallback(): void {
      if (this.#panel !== null) this.#panel.connected();
      else
        load().then(
          ({ panelOf }) => this.#draw(panelOf),
          (error) => console.error(`[${name}] the code that draws it cannot be loaded:`, error),
        );
      this.#takeOver();
    }

    disconnectedCallback(): void {
      this.#panel?.disconnected();
    }

    attributeChangedCallback(
      attribute: string,
      _before: string | null,
      value: string | null,
    ): void {
      const isProperty = attribute === property.name;
      if (value !== null && (isProperty || value === String({}))) {
        const advice = isProperty
          ? `set the property: element.${attribute} = ...`
          : "give it a text";
        console.error(
          `[${name}] the attribute "${attribute}" is ${describe(value)}, as attributes are text; ${advice}.`,
        );
      }
      this.#panel?.attributeChanged(attribute);
    }

    redraw(): void {
      this.#panel?.redraw();
    }

    #show(given: unknown): void {
      const value = given == null ? null : property.read(given as never);
      if (given != null && value === null) refuse(name, property.name, property.expected, given);
      this.#value = value;
      this.#panel?.show(value as never);
    }

    // A property that a program has set before the element was defined is an own property, which hides that of the class.
    #takeOver(): void {
      const own: Record<string, unknown> = this as never;
      for (const set of [...texts, property.name].filter((text) => Object.hasOwn(own, text))) {
        const value = own[set];
        delete own[set];
        own[set] = value;
      }
    }

    #draw(panelOf: (host: HTMLElement, name: PanelName) => Panel): void {
      if (this.#panel !== null || !this.isConnected) return;
      const panel = panelOf(this, name);
      this.#panel = panel;
      for (const attribute of attributes)
        if (this.hasAttribute(attribute)) panel.attributeChanged(attribute);
      if (this.#value !== null) panel.show(this.#value as never);
      panel.connected();
    }
  }
  return Shell;
}
