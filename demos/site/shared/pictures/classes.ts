// The classes of a lesson: each has a name, and examples that a visitor has picked or made, such as pictures.

import { button } from "../elements.js";

const kThumbnail = 36;
const kMostThumbnails = 12;

/** An example of a class, with the picture that is shown of it. */
export interface Shown {
  readonly picture: ImageBitmap;
}

interface ExampleClass<T> {
  readonly element: HTMLElement;
  readonly name: HTMLInputElement;
  readonly count: HTMLElement;
  readonly thumbnails: HTMLElement;
  examples: T[];
}

/** What examples are, and how they are read from files. */
export interface ExampleKind<T extends Shown> {
  /** The name of one, and of several. */
  readonly names: readonly [string, string];
  /** The files, as in the attribute `accept`. */
  readonly accept: string;
  /** Reads the examples of a file; rejects if it has none. */
  readonly read: (file: File) => Promise<readonly T[]>;
}

/** Pictures from files. */
export const kPictures: ExampleKind<Shown> = {
  names: ["picture", "pictures"],
  accept: "image/*",
  read: async (file) => [{ picture: await createImageBitmap(file) }],
};

/** What the classes need of the page. */
export interface ClassesOptions<T extends Shown> {
  readonly kind: ExampleKind<T>;
  /** The button that makes examples, and what it calls; they are added as they are made. */
  readonly making: {
    readonly label: string;
    readonly make: (add: (example: T) => void) => Promise<void>;
  };
  readonly changed: () => void;
  readonly failed: (message: string) => void;
}

export class ExampleClasses<T extends Shown = Shown> {
  readonly #element: HTMLElement;
  readonly #options: ClassesOptions<T>;
  #classes: ExampleClass<T>[] = [];

  constructor(element: HTMLElement, options: ClassesOptions<T>) {
    this.#element = element;
    this.#options = options;
  }

  /** The names, and the examples with the positions of their classes. Throws an Error that says what is missing for a lesson. */
  get lesson(): { names: string[]; examples: T[]; labels: number[] } {
    const [, several] = this.#options.kind.names;
    const names = this.#classes.map(({ name }, i) => name.value.trim() || `class ${i + 1}`);
    const filled = this.#classes.filter(({ examples }) => examples.length > 0);
    if (filled.length < 2) throw new Error(`A lesson needs ${several} in at least two classes.`);
    const empty = this.#classes.findIndex(({ examples }) => examples.length === 0);
    if (empty >= 0) {
      throw new Error(`The class "${names[empty]}" has no ${several}: add some, or remove it.`);
    }
    const examples = this.#classes.flatMap(({ examples }) => examples);
    const labels = this.#classes.flatMap(({ examples }, label) => examples.map(() => label));
    return { names, examples, labels };
  }

  /** Adds a class with its first examples. */
  add(name: string, examples: readonly T[] = []): void {
    const added = this.#make(name);
    this.#classes.push(added);
    this.#element.append(added.element);
    this.#take(added, examples);
  }

  clear(): void {
    for (const one of this.#classes) close(one);
    this.#classes = [];
    this.#element.replaceChildren();
  }

  #make(title: string): ExampleClass<T> {
    const { kind, making } = this.#options;
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
    file.accept = kind.accept;
    file.multiple = true;
    file.hidden = true;
    const made: ExampleClass<T> = { element, name, count, thumbnails, examples: [] };
    const pick = button(`Add ${kind.names[1]}`, { press: () => file.click() });
    const maker = button(making.label, {
      className: "make",
      press: () => void making.make((example) => this.#take(made, [example])),
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

  async #addFiles(to: ExampleClass<T>, files: readonly File[]): Promise<void> {
    const { names, read } = this.#options.kind;
    const examples: T[] = [];
    const refused: string[] = [];
    for (const file of files) {
      try {
        examples.push(...(await read(file)));
      } catch {
        refused.push(file.name);
      }
    }
    this.#take(to, examples);
    if (refused.length > 0)
      this.#options.failed(`${refused.join(", ")}: no ${names[1]} that this browser can read.`);
  }

  #take(to: ExampleClass<T>, examples: readonly T[]): void {
    to.examples.push(...examples);
    const { length } = to.examples;
    const [one, several] = this.#options.kind.names;
    to.count.textContent = `${length} ${length === 1 ? one : several}`;
    const room = kMostThumbnails - to.thumbnails.childElementCount;
    const pictures = examples.slice(0, Math.max(room, 0)).map(({ picture }) => picture);
    to.thumbnails.append(...pictures.map(thumbnail));
    this.#options.changed();
  }

  #remove(gone: ExampleClass<T>): void {
    close(gone);
    const at = this.#classes.indexOf(gone);
    this.#classes = this.#classes.filter((label) => label !== gone);
    gone.element.remove();
    const next = this.#classes[Math.min(at, this.#classes.length - 1)];
    next?.name.focus();
    this.#options.changed();
  }
}

function close({ examples }: ExampleClass<Shown>): void {
  for (const { picture } of examples) picture.close();
}

function thumbnail(picture: ImageBitmap): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = kThumbnail;
  canvas.height = kThumbnail;
  canvas.getContext("2d")?.drawImage(picture, 0, 0, kThumbnail, kThumbnail);
  return canvas;
}
