// The elements that pages make most often.

/** Options of a button. */
export interface ButtonOptions {
  readonly className?: string;
  readonly title?: string;
  readonly press?: () => void;
}

/** A button that submits nothing. */
export function button(text: string, options: ButtonOptions = {}): HTMLButtonElement {
  const { className = "", title = "", press } = options;
  const made = element("button", text, className);
  made.type = "button";
  if (title !== "") made.title = title;
  if (press !== undefined) made.addEventListener("click", press);
  return made;
}

/** A link. */
export function link(href: string, text: string): HTMLAnchorElement {
  const made = element("a", text);
  made.href = href;
  return made;
}

/** A paragraph. */
export function paragraph(text = "", className = ""): HTMLParagraphElement {
  return element("p", text, className);
}

/** An element with a text and a class. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  text = "",
  className = "",
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (text !== "") made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

type TextSource = () => string | Promise<string>;

// How long a copy button says that it has copied.
const kCopiedMs = 1600;

/** A button that copies a text. */
export function copyButton(text: TextSource, label = "Copy"): HTMLButtonElement {
  const made = button(label, { className: "copy" });
  makeCopying(made, text);
  return made;
}

/** Makes a button copy a text, and say so. */
export function makeCopying(made: HTMLButtonElement, text: TextSource): void {
  const label = made.textContent ?? "";
  made.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await text());
      made.textContent = "Copied";
    } catch {
      made.textContent = "Not allowed";
    }
    setTimeout(() => {
      made.textContent = label;
    }, kCopiedMs);
  });
}
