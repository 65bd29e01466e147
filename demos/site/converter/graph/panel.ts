// The card of the graph: the drawing with its buttons, and what is known of the chosen node.

import type { OnnxDescription, OnnxNode } from "edgegrad/onnx";
import { button } from "../../shared/elements.js";
import { byId } from "../../shared/frame.js";
import type { Layout } from "../../shared/graph/layout.js";
import { PagedTable } from "../paged_table.js";
import { GraphView } from "./graph_view.js";
import { type Picture, type PictureBox, pictureOf, type Shape, shapeText } from "./picture.js";
import { type Group, openAtFirst, parentOf, treeOf, visible } from "./tree.js";

/** The most boxes that are drawn: more take seconds to arrange, and cannot be read. */
const kMostBoxes = 300;
const kMostAtFirst = 80;

export class GraphPanel {
  readonly #view = new GraphView(byId("graph"), (box) => void this.#press(box));
  readonly #table = new PagedTable(byId("nodes"), {
    caption: "Nodes, each behind those that it depends on",
    columns: ["Op", "Name", "Reads", "Makes"],
  });
  readonly #layOut: (picture: Picture) => Promise<Layout>;
  #model: OnnxDescription | null = null;
  #shapes = new Map<string, Shape>();
  #root: Group | null = null;
  #open = new Set<string>();
  #picture: Picture = { boxes: [], edges: [] };
  #drawn = 0;

  /** `layOut` arranges a picture, in the worker. */
  constructor(layOut: (picture: Picture) => Promise<Layout>) {
    this.#layOut = layOut;
    // It scrolls, also by keys.
    byId("node-details").tabIndex = 0;
    byId("zoom-in").addEventListener("click", () => this.#view.zoom(1.25));
    byId("zoom-out").addEventListener("click", () => this.#view.zoom(0.8));
    byId("zoom-fit").addEventListener("click", () => this.#view.fit());
    byId("fold").addEventListener("click", () => void this.#foldAll());
  }

  /** Shows a model. */
  async show(model: OnnxDescription): Promise<void> {
    this.#model = model;
    this.#shapes = new Map(Object.entries(model.shapes));
    for (const { name, shape } of model.initializers) this.#shapes.set(name, shape);
    this.#root = treeOf(model.nodes);
    this.#open = openAtFirst(this.#root, kMostAtFirst);
    this.#showDetails(null);
    this.#fillTable();
    await this.#draw();
  }

  /** Shows the shapes of values that a run has had. */
  async showShapes(shapes: Readonly<Record<string, readonly number[]>>): Promise<void> {
    for (const [name, shape] of Object.entries(shapes)) this.#shapes.set(name, shape);
    this.#fillTable();
    await this.#draw();
  }

  async #draw(focused: Group | null = null): Promise<void> {
    if (this.#model === null || this.#root === null) return;
    const drawn = ++this.#drawn;
    const picture = pictureOf(this.#model, visible(this.#root, this.#open), this.#shapes);
    byId("graph").setAttribute("aria-busy", "true");
    const layout = await this.#layOut(picture);
    // A newer picture may have been asked for meanwhile.
    if (drawn !== this.#drawn) return;
    this.#picture = picture;
    this.#view.draw(
      picture,
      layout,
      ({ group }) => focused !== null && group !== null && group.start >= focused.start,
    );
    byId("graph").setAttribute("aria-busy", "false");
  }

  async #press(box: PictureBox): Promise<void> {
    const { group } = box;
    this.#view.mark((id) => this.#picture.boxes[id] === box);
    if (group === null) return;
    if (group.parts.length === 0) {
      this.#showDetails(group);
      return;
    }
    if (this.#picture.boxes.length + group.parts.length > kMostBoxes) {
      byId("graph-note").textContent =
        `At most ${kMostBoxes} boxes are drawn at once: fold others first.`;
      return;
    }
    this.#open.add(group.id);
    await this.#draw(group);
  }

  async #foldAll(): Promise<void> {
    if (this.#root === null) return;
    const few = openAtFirst(this.#root, this.#root.parts.length);
    this.#open = few;
    byId("graph-note").textContent = "";
    await this.#draw();
  }

  async #close(group: Group): Promise<void> {
    this.#open.delete(group.id);
    this.#showDetails(null);
    await this.#draw(group);
  }

  #showDetails(group: Group | null): void {
    const element = byId("node-details");
    byId("graph-note").textContent = "";
    element.replaceChildren();
    const node = group === null ? undefined : this.#model?.nodes[group.start];
    if (group === null || node === undefined || this.#root === null) {
      element.append(line("Press a node to see its attributes, and a group to open it."));
      return;
    }
    const list = document.createElement("dl");
    for (const [term, text] of this.#factsOf(node)) {
      const row = document.createElement("div");
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = term;
      dd.textContent = text;
      row.append(dt, dd);
      list.append(row);
    }
    element.append(list);
    const parent = parentOf(this.#root, group);
    if (parent === null) return;
    element.append(button(`Fold ${parent.name}`, { press: () => void this.#close(parent) }));
  }

  #factsOf(node: OnnxNode): [string, string][] {
    const set = node.domain === "ai.onnx" ? "" : ` of ${node.domain}`;
    const problem = node.isSupported ? "" : " (not supported)";
    return [
      ["op", `${node.op}${set}${problem}`],
      ["name", node.name],
      ["reads", this.#valuesText(node.inputs, "\n")],
      ["makes", this.#valuesText(node.outputs, "\n")],
      ...Object.entries(node.attributes),
    ];
  }

  #valuesText(names: readonly string[], between: string): string {
    return names
      .map((name) => (name === "" ? "–" : `${name} ${shapeText(this.#shapes.get(name))}`.trim()))
      .join(between);
  }

  #fillTable(): void {
    const nodes = this.#model?.nodes ?? [];
    this.#table.show(nodes.length, (i) => {
      const { op, name, inputs, outputs, isSupported } = nodes[i] as OnnxNode;
      return [
        isSupported ? op : `${op} (not supported)`,
        name,
        this.#valuesText(inputs, ", "),
        this.#valuesText(outputs, ", "),
      ];
    });
  }
}

function line(text: string): HTMLElement {
  const element = document.createElement("p");
  element.className = "hint";
  element.textContent = text;
  return element;
}
