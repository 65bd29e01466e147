// The drawing area, for a pointer, or for the keyboard with a pen that the arrow keys move.

import { color, kThemeChanged } from "../shared/frame.js";
import { centered } from "./centered.js";
import { kSide } from "./digits.js";
import "./drawing_pad.css";

const kPenWidth = 20;
const kKeyStep = 10;
const kMoves: Record<string, readonly [number, number]> = {
  ArrowLeft: [-kKeyStep, 0],
  ArrowRight: [kKeyStep, 0],
  ArrowUp: [0, -kKeyStep],
  ArrowDown: [0, kKeyStep],
};

type Position = readonly [x: number, y: number];

export class DrawingPad {
  readonly #shown: HTMLCanvasElement;
  // Only the ink, which is classified; the visible canvas also has the pen and the colors.
  readonly #ink: OffscreenCanvasRenderingContext2D;
  readonly #side: number;
  readonly #changed: () => void;
  #pen: Position;
  #penShown = false;
  #isDown = false;
  // Whether the ink is an image of show(), which the first stroke replaces.
  #isGiven = false;
  #inkColor = color("text");

  /** `changed` is called after every segment of a stroke. */
  constructor(canvas: HTMLCanvasElement, changed: () => void) {
    this.#shown = canvas;
    this.#side = canvas.width;
    this.#changed = changed;
    this.#pen = [this.#side / 2, this.#side / 2];
    const layer = new OffscreenCanvas(this.#side, this.#side);
    this.#ink = layer.getContext("2d", {
      willReadFrequently: true,
    }) as OffscreenCanvasRenderingContext2D;
    this.#ink.lineWidth = kPenWidth;
    this.#ink.lineCap = "round";
    this.#listen();
  }

  clear(): void {
    this.#isGiven = false;
    this.#ink.clearRect(0, 0, this.#side, this.#side);
    this.#drawn();
  }

  /** Shows an image of 28 x 28 pixels as if it had been drawn. */
  show(image: Uint8Array): void {
    const small = new OffscreenCanvas(kSide, kSide);
    const context = small.getContext("2d") as OffscreenCanvasRenderingContext2D;
    const pixels = context.createImageData(kSide, kSide);
    image.forEach((value, i) => {
      pixels.data[4 * i + 3] = value;
    });
    context.putImageData(pixels, 0, 0);
    this.#ink.clearRect(0, 0, this.#side, this.#side);
    this.#ink.drawImage(small, 0, 0, this.#side, this.#side);
    this.#isGiven = true;
    this.#drawn();
  }

  /** The drawing in the form of the network's input; null if the area is empty. */
  image(): Uint8Array | null {
    const { data } = this.#ink.getImageData(0, 0, this.#side, this.#side);
    const ink = new Uint8Array(this.#side * this.#side);
    for (let i = 0; i < ink.length; i++) ink[i] = data[4 * i + 3] as number;
    return centered(ink, this.#side);
  }

  #listen(): void {
    const canvas = this.#shown;
    canvas.classList.add("pad");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#penShown = false;
      if (this.#isGiven) this.clear();
      this.#pen = this.#positionOf(event);
      this.#drawTo(this.#pen);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      // Includes the events between two frames, so that quick strokes are smooth.
      for (const part of event.getCoalescedEvents()) this.#drawTo(this.#positionOf(part));
      this.#drawTo(this.#positionOf(event));
    });
    canvas.addEventListener("keydown", (event) => this.#onKey(event));
    canvas.addEventListener("blur", () => {
      this.#penShown = false;
      this.#isDown = false;
      this.#paint();
    });
    document.addEventListener(kThemeChanged, () => {
      this.#inkColor = color("text");
      this.#paint();
    });
  }

  #onKey(event: KeyboardEvent): void {
    const move = kMoves[event.key];
    if (move !== undefined) this.#movePen(move);
    else if (event.key === " ") this.#putPen(!this.#isDown);
    else if (event.key === "Delete" || event.key === "Backspace") this.clear();
    else return;
    event.preventDefault();
  }

  #movePen([x, y]: Position): void {
    const within = (at: number) => Math.min(Math.max(at, 0), this.#side);
    const to: Position = [within(this.#pen[0] + x), within(this.#pen[1] + y)];
    this.#penShown = true;
    if (this.#isDown) this.#drawTo(to);
    this.#pen = to;
    this.#paint();
  }

  #putPen(isDown: boolean): void {
    if (isDown && this.#isGiven) this.clear();
    this.#isDown = isDown;
    this.#penShown = true;
    if (isDown) this.#drawTo(this.#pen);
    this.#paint();
  }

  #positionOf({ clientX, clientY }: PointerEvent): Position {
    const { left, top, width } = this.#shown.getBoundingClientRect();
    const scale = this.#side / width;
    return [(clientX - left) * scale, (clientY - top) * scale];
  }

  #drawTo(to: Position): void {
    this.#ink.beginPath();
    this.#ink.moveTo(...this.#pen);
    this.#ink.lineTo(...to);
    this.#ink.stroke();
    this.#pen = to;
    this.#drawn();
  }

  #drawn(): void {
    this.#paint();
    this.#changed();
  }

  // Paints the ink in the color of the page's text, and the pen for the keyboard.
  #paint(): void {
    const context = this.#shown.getContext("2d") as CanvasRenderingContext2D;
    context.globalCompositeOperation = "copy";
    context.drawImage(this.#ink.canvas, 0, 0);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = this.#inkColor;
    context.fillRect(0, 0, this.#side, this.#side);
    context.globalCompositeOperation = "source-over";
    if (!this.#penShown) return;
    context.strokeStyle = color(this.#isDown ? "bad" : "accent");
    context.lineWidth = 3;
    context.beginPath();
    context.arc(...this.#pen, kPenWidth / 2, 0, 2 * Math.PI);
    context.stroke();
  }
}
