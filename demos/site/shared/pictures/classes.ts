// The classes of a lesson: each has a name, and pictures that a visitor has picked or made.

import { button } from "../elements.js";

const kThumbnail = 36;
const kMostThumbnails = 12;

interface PictureClass {
  readonly element: HTMLElement;
  readonly name: HTMLInputElement;
  readonly count: HTMLElement;
  readonly thumbnails: HTMLElement;
  pictures: ImageBitmap[];
}

/** A picture of a lesson and the position of its class. */
export interface Example {
  readonly picture: ImageBitmap;
  readonly label: number;
}

/** What the classes need of the page. */
export interface ClassesOptions {
  /** The button that makes pictures, and what it calls; pictures are added as they are made. */
  readonly making: {
    readonly label: string;
    readonly make: (add: (picture: ImageBitmap) => void) => Promise<void>;
  };
  readonly changed: () => void;
  readonly failed: (message: string) => void;
}

export class PictureClasses {
  readonly #element: HTMLElement;
  readonly #options: ClassesOptions;
  #classes: PictureClass[] = [];

  constructor(element: HTMLElement, options: ClassesOptions) {
    this.#element = element;
    this.#options = options;
  }

  /** The names and the pictures. Throws an Error that says what is missing for a lesson. */
  get lesson(): { names: string[]; examples: Example[] } {
    const names = this.#classes.map(({ name }, i) => name.value.trim() || `class ${i + 1}`);
    const filled = this.#classes.filter(({ pictures }) => pictures.length > 0);
    if (filled.length < 2) throw new Error("A lesson needs pictures in at least two classes.");
    const empty = this.#classes.findIndex(({ pictures }) => pictures.length === 0);
    if (empty >= 0) {
      throw new Error(`The class "${names[empty]}" has no pictures: add some, or remove it.`);
    }
    const examples = this.#classes.flatMap(({ pictures }, label) =>
      pictures.map((picture) => ({ picture, label })),
    );
    return { names, examples };
  }

  /** Adds a class with its first pictures. */
  add(name: string, pictures: readonly ImageBitmap[] = []): void {
    const added = this.#make(name);
    this.#classes.push(added);
    this.#element.append(added.element);
    this.#take(added, pictures);
  }

  clear(): void {
    for (const { pictures } of this.#classes) for (const picture of pictures) picture.close();
    this.#classes = [];
    this.#element.replaceChildren();
  }

  #make(title: string): PictureClass {
    const element = document.createElement("div");
    element.className = "class";
    element.setAttribute("role", "group");
    const name = document.createElement("input");
    name.type = "text";
    name.value = title;
    name.maxLength = 60;
    name.setAttribute("aria-label", "Name of the class");
    const count = document.createElement("span");
    count.className = "number";
    const thumbnails = document.createElement("div");
    thumbnails.className = "thumbnails";
    const file = document.createElement("input");
    file.type = "file";
    file.accept = "image/*";
    file.multiple = true;
    file.hidden = true;
    const made: PictureClass = { element, name, count, thumbnails, pictures: [] };
    const pick = button("Add pictures", { press: () => file.click() });
    const { label: makeLabel, make } = this.#options.making;
    const maker = button(makeLabel, {
      className: "make",
      press: () => void make((picture) => this.#take(made, [picture])),
    });
    const remove = button("×", { press: () => this.#remove(made) });
    remove.setAttribute("aria-label", "Remove the class");
    const label = () => element.setAttribute("aria-label", `Class ${name.value}`);
    name.addEventListener("input", label);
    label();
    file.addEventListener("change", async () => {
      const files = [...(file.files ?? [])];
      file.value = "";
      await this.#addFiles(made, files);
    });
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(name, count, pick, maker, remove, file);
    element.append(controls, thumbnails);
    return made;
  }

  async #addFiles(to: PictureClass, files: readonly File[]): Promise<void> {
    const pictures: ImageBitmap[] = [];
    const refused: string[] = [];
    for (const file of files) {
      try {
        pictures.push(await createImageBitmap(file));
      } catch {
        refused.push(file.name);
      }
    }
    this.#take(to, pictures);
    if (refused.length > 0)
      this.#options.failed(`${refused.join(", ")}: no pictures that this browser can read.`);
  }

  #take(to: PictureClass, pictures: readonly ImageBitmap[]): void {
    to.pictures.push(...pictures);
    const { length } = to.pictures;
    to.count.textContent = `${length} ${length === 1 ? "picture" : "pictures"}`;
    const room = kMostThumbnails - to.thumbnails.childElementCount;
    to.thumbnails.append(...pictures.slice(0, Math.max(room, 0)).map(thumbnail));
    this.#options.changed();
  }

  #remove(gone: PictureClass): void {
    for (const picture of gone.pictures) picture.close();
    const at = this.#classes.indexOf(gone);
    this.#classes = this.#classes.filter((label) => label !== gone);
    gone.element.remove();
    const next = this.#classes[Math.min(at, this.#classes.length - 1)];
    next?.name.focus();
    this.#options.changed();
  }
}

function thumbnail(picture: ImageBitmap): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = kThumbnail;
  canvas.height = kThumbnail;
  canvas.getContext("2d")?.drawImage(picture, 0, 0, kThumbnail, kThumbnail);
  return canvas;
}
