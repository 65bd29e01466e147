// The card of the lesson: classes of pictures, the training of the last layer, and guesses for drawings.

import type { GraphValue } from "edgegrad/onnx";
import { kPixels, loadTestDigits } from "../digits/digits.js";
import { DrawingPad } from "../digits/drawing_pad.js";
import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { ExampleClasses, kPictures } from "../shared/pictures/classes.js";
import { pixelsOf } from "../shared/pictures/pixels.js";
import { errorText } from "../shared/printed.js";
import { proxy, type Remote, transfer } from "../shared/trainer_link.js";
import type { Learned, Lesson, LossPoint, Pictures, Scaling } from "./messages.js";
import { bitmapOf } from "./pictures/bitmaps.js";
import { type PictureFormat, pictureFormat } from "./pictures/format.js";
import type { Converter } from "./trainer.js";

const kDigitsPerClass = 24;
// Pictures that are drawn small before the page does something else.
const kAtOnce = 16;

export class TeachPanel {
  readonly #trainer: Remote<Converter>;
  readonly #sizes: () => Record<string, number>;
  readonly #changed: () => void;
  readonly #note = byId("lesson-note");
  readonly #button = byId<HTMLButtonElement>("learn");
  readonly #pad: DrawingPad;
  readonly #classes: ExampleClasses;
  #chart: LineChart | null = null;
  #inputs: readonly GraphValue[] = [];
  #names: string[] = [];
  #isLearning = false;

  /** `sizes` are those that the visitor has chosen; `changed` is called after a lesson. */
  constructor(
    trainer: Remote<Converter>,
    { sizes, changed }: { sizes: () => Record<string, number>; changed: () => void },
  ) {
    this.#trainer = trainer;
    this.#sizes = sizes;
    this.#changed = changed;
    this.#pad = new DrawingPad(byId<HTMLCanvasElement>("pad"), () => {
      byId("guess").textContent = "";
    });
    this.#classes = new ExampleClasses(byId("classes"), {
      kind: kPictures,
      making: {
        label: "Add the drawing",
        make: async (add) => {
          const picture = await this.#drawing();
          if (picture === null) this.#tell("Nothing is drawn.", "problem");
          else add({ picture });
        },
      },
      changed: () => this.#tell(""),
      failed: (message) => this.#tell(message, "problem"),
    });
    byId("add-class").addEventListener("click", () => this.#classes.add(""));
    byId("ten-digits").addEventListener("click", () => void this.#try(() => this.#fill()));
    byId("clear").addEventListener("click", () => this.#pad.clear());
    byId("classify").addEventListener("click", () => void this.#try(() => this.#guess()));
    this.#button.addEventListener("click", () => {
      if (this.#isLearning) void this.#trainer.stop();
      else void this.#try(() => this.#learn());
    });
  }

  /** Shows the lesson of a model. */
  async show(inputs: readonly GraphValue[]): Promise<void> {
    this.#inputs = inputs;
    this.#names = [];
    this.#classes.clear();
    this.#classes.add("");
    this.#classes.add("");
    this.#tell("");
    this.#chart?.clear();
    byId("loss").hidden = true;
    byId("guess").textContent = "";
    await this.describe();
  }

  /** Says how the model takes pictures, which follows from the sizes. */
  async describe(): Promise<void> {
    const note = byId("teach-note");
    const teaching = byId("teaching");
    const format = pictureFormat(this.#inputs, this.#sizes());
    const layer = await this.#trainer.lastLayer();
    teaching.hidden = typeof format === "string" || typeof layer === "string";
    if (typeof layer === "string") note.textContent = layer;
    else if (typeof format === "string") note.textContent = format;
    else {
      const { outputs, weight } = layer;
      note.textContent =
        `Only the last layer (${weight}, ${outputs} outputs) is trained; the layers before it stay as they are. It goes on from its ` +
        `weights if you have ${outputs} classes, and is a new layer for another number. Pictures become ${format.width} × ` +
        `${format.height} pixels${format.channels === 1 ? ", gray" : ""}.`;
    }
  }

  async #fill(): Promise<void> {
    this.#tell("Loading digits …");
    const folder = new URL("../digits/data/", document.baseURI).href;
    const { images, labels } = await loadTestDigits(folder);
    this.#classes.clear();
    for (let digit = 0; digit < 10; digit++) {
      const places = [...labels.keys()]
        .filter((i) => labels[i] === digit)
        .slice(0, kDigitsPerClass);
      const pictures = places.map((i) => bitmapOf(images.subarray(i * kPixels, (i + 1) * kPixels)));
      const drawn = await Promise.all(pictures);
      this.#classes.add(
        String(digit),
        drawn.map((picture) => ({ picture })),
      );
    }
    this.#tell("");
  }

  async #learn(): Promise<void> {
    const { examples, names, labels } = this.#classes.lesson;
    this.#isLearning = true;
    this.#button.textContent = "Stop";
    this.#tell("Computing what the layers before the last one make of the pictures …");
    byId("loss").hidden = false;
    this.#chart ??= new LineChart(byId("loss"), {
      label: "Loss by step",
      x: "step",
      series: [{ label: "loss", color: "series-1" }],
      log: true,
      height: 180,
    });
    this.#chart.clear();
    let isDone = false;
    try {
      const lesson = {
        ...(await this.#pictures(examples.map(({ picture }) => picture))),
        labels,
        classes: names.length,
        steps: Number(byId<HTMLInputElement>("steps").value),
        rate: Number(byId<HTMLSelectElement>("rate").value),
      };
      const report = proxy((points: readonly LossPoint[]) => {
        for (const [step, loss] of points) this.#chart?.push(step, loss);
        const [step, loss] = points.at(-1) ?? [0, Number.NaN];
        // The last points may arrive after the result.
        if (!isDone) this.#tell(`step ${step}, loss ${loss.toPrecision(3)}`);
      });
      const learned = await this.#trainer.learn(transferred(lesson), report);
      isDone = true;
      this.#names = names;
      this.#tell(learnedText(learned));
      this.#changed();
      await this.describe();
    } finally {
      this.#isLearning = false;
      this.#button.textContent = "Train";
    }
  }

  async #guess(): Promise<void> {
    const picture = await this.#drawing();
    if (picture === null) throw new Error("Nothing is drawn.");
    const shares = await this.#trainer.classify(await this.#pictures([picture]));
    picture.close();
    const best = shares.indexOf(Math.max(...shares));
    const name = this.#names[best] ?? `output ${best}`;
    byId("guess").textContent = `${name}, ${(100 * (shares[best] ?? 0)).toFixed(0)} % sure`;
  }

  async #pictures(pictures: readonly ImageBitmap[]): Promise<Pictures> {
    const sizes = this.#sizes();
    const { width, height } = pictureFormat(this.#inputs, sizes) as PictureFormat;
    const pixels: Uint8ClampedArray<ArrayBuffer>[] = [];
    for (const picture of pictures) {
      pixels.push(pixelsOf(picture, width, height));
      if (pixels.length % kAtOnce === 0) await new Promise(requestAnimationFrame);
    }
    return {
      pixels,
      scaling: byId<HTMLSelectElement>("scaling").value as Scaling,
      isInverted: byId<HTMLInputElement>("inverted").checked,
      sizes,
    };
  }

  async #drawing(): Promise<ImageBitmap | null> {
    const image = this.#pad.image();
    return image === null ? null : bitmapOf(image);
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#tell(errorText(error), "problem");
    }
  }

  #tell(text: string, look = ""): void {
    this.#note.textContent = text;
    this.#note.className = look;
  }
}

// The pixels move to the worker instead of being copied.
function transferred(lesson: Lesson): Lesson {
  return transfer(
    lesson,
    lesson.pixels.map(({ buffer }) => buffer),
  );
}

function learnedText({ steps, loss, right, tested, trained, isNew }: Learned): string {
  const what = isNew ? "A new last layer" : "The last layer";
  const test =
    tested === 0
      ? "Add at least four pictures to a class, and one of them tests the lesson."
      : `Of ${tested} pictures that were kept out of the lesson, ${right} are recognized.`;
  return `${what} has learned ${trained} pictures in ${steps} steps; the loss is ${loss.toPrecision(3)}. ${test}`;
}
