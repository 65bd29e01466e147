// A visitor's ten drawings, one of each digit: slots to fill, and their predictions before and after the lesson.

import { button, element } from "../shared/elements.js";
import { color, kThemeChanged } from "../shared/frame.js";
import { type Digits, kPixels, kSide } from "./digits.js";

interface Slot {
  readonly button: HTMLButtonElement;
  readonly canvas: HTMLCanvasElement;
  readonly verdict: HTMLElement;
  image: Uint8Array | null;
}

export class OwnDigits {
  readonly #slots: Slot[];
  readonly #whenChosen: (digit: number) => void;
  #chosen = 0;

  /** `whenChosen` receives the digit whose slot is to be filled next. */
  constructor(element: HTMLElement, whenChosen: (digit: number) => void) {
    this.#whenChosen = whenChosen;
    this.#slots = Array.from({ length: 10 }, (_, digit) => makeSlot(digit));
    this.#slots.forEach(({ button }, digit) => {
      button.addEventListener("click", () => this.#choose(digit));
      element.append(button);
    });
    document.addEventListener(kThemeChanged, () => {
      for (const slot of this.#slots) draw(slot);
    });
    this.#choose(0);
  }

  get isComplete(): boolean {
    return this.#slots.every(({ image }) => image !== null);
  }

  /** Fills the chosen slot, and selects the next empty one. */
  keep(image: Uint8Array): void {
    const slot = this.#slots[this.#chosen] as Slot;
    slot.image = image;
    slot.verdict.textContent = "";
    draw(slot);
    const next = this.#slots.findIndex((other) => other.image === null);
    this.#choose(next < 0 ? this.#chosen : next);
  }

  /** All drawings with their labels. */
  digits(): Digits {
    const images = new Uint8Array(10 * kPixels);
    this.#slots.forEach(({ image }, digit) => {
      if (image !== null) images.set(image, digit * kPixels);
    });
    return { images, labels: Uint8Array.from({ length: 10 }, (_, digit) => digit) };
  }

  /** Shows predictions, or those before and after the lesson; returns how many of the last ones are right. */
  judge(...guesses: readonly Uint8Array[]): number {
    let right = 0;
    this.#slots.forEach(({ verdict }, digit) => {
      const read = guesses.map((list) => list[digit] as number);
      const isRight = read.at(-1) === digit;
      verdict.textContent = `read ${[...new Set(read)].join(" → ")}`;
      verdict.className = isRight ? "right" : "wrong";
      right += Number(isRight);
    });
    return right;
  }

  #choose(digit: number): void {
    this.#chosen = digit;
    this.#slots.forEach(({ button }, i) => {
      button.setAttribute("aria-pressed", String(i === digit));
    });
    this.#whenChosen(digit);
  }
}

function makeSlot(digit: number): Slot {
  const made = button("", { className: "slot" });
  made.setAttribute("aria-label", `Your ${digit}`);
  const canvas = element("canvas");
  canvas.width = kSide;
  canvas.height = kSide;
  const verdict = element("small");
  made.append(element("span", String(digit)), canvas, verdict);
  return { button: made, canvas, verdict, image: null };
}

function draw({ canvas, image }: Slot): void {
  if (image === null) return;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const pixels = context.createImageData(kSide, kSide);
  image.forEach((value, i) => {
    pixels.data[4 * i + 3] = value;
  });
  context.putImageData(pixels, 0, 0);
  context.globalCompositeOperation = "source-in";
  context.fillStyle = color("text");
  context.fillRect(0, 0, kSide, kSide);
  context.globalCompositeOperation = "source-over";
}
