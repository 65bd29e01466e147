// The base class of runs and writers: the methods to which training reports values.

import type { Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { histogramOf } from "./histogram.js";
import { type MatrixLabels, type MatrixValues, matrixOf } from "./matrix.js";
import { gridOf, type PictureLayout, type PicturesLayout, pictureOf } from "./picture.js";
import { type LogRecord, placeOf, type RecordKind, scalarOf, textOf } from "./record.js";
import type { Later, Values } from "./values.js";

/**
 * Receives the values that training reports, through methods with PyTorch's names (`add_scalar` is `addScalar`). Values are read at the time
 * of the call: tensors may change or be freed afterward. Those of a tensor on another device than the CPU arrive later, in any order.
 */
export abstract class Recorder {
  readonly #pending = new Set<Promise<void>>();
  #failure: unknown = null;

  /** Adds a number, such as a loss or an accuracy. A tensor must have one element. NaN and infinities are allowed. */
  addScalar(tag: string, value: number | bigint | Tensor, step = 0): void {
    this.#add("addScalar", "scalar", tag, step, (where) => scalarOf(where, value));
  }

  /** Adds several numbers, whose tags begin with `mainTag` and "/". */
  addScalars(
    mainTag: string,
    values: Readonly<Record<string, number | bigint | Tensor>>,
    step = 0,
  ): void {
    if (typeof values !== "object" || values === null)
      refuse(this.#where("addScalars"), "values", "an object of numbers", values);
    for (const [name, value] of Object.entries(values)) {
      this.addScalar(`${mainTag}/${name}`, value, step);
    }
  }

  /** Adds a histogram with `bins` ranges of equal width, 30 by default. Takes a tensor of any shape, or numbers. */
  addHistogram(tag: string, values: Values, step = 0, bins?: number): void {
    this.#add("addHistogram", "histogram", tag, step, (where) => histogramOf(where, values, bins));
  }

  /** Adds an image, of dtype uint8 or with values from 0 to 1. `layout` is the order of its dimensions, "CHW" by default. */
  addImage(tag: string, image: Tensor, step = 0, layout: PictureLayout = "CHW"): void {
    this.#add("addImage", "image", tag, step, (where) => pictureOf(where, image, layout));
  }

  /**
   * Adds a grid of images as one image. `layout` is the order of the dimensions, "NCHW" by default; `columns` is the number of images per row,
   * by default about as many as there are rows.
   */
  addImages(
    tag: string,
    images: Tensor,
    step = 0,
    layout: PicturesLayout = "NCHW",
    columns: number | null = null,
  ): void {
    this.#add("addImages", "image", tag, step, (where) => gridOf(where, images, layout, columns));
  }

  /** Adds a matrix, such as that of `confusionMatrix()` or an attention map, with the names of its rows and columns. */
  addMatrix(tag: string, values: MatrixValues, step = 0, labels: MatrixLabels = {}): void {
    this.#add("addMatrix", "matrix", tag, step, (where) => matrixOf(where, values, labels));
  }

  /** Adds a text, which TensorBoard shows as Markdown. */
  addText(tag: string, text: string, step = 0): void {
    this.#add("addText", "text", tag, step, (where) => textOf(where, text));
  }

  /** Resolves when all added values have arrived; rejects with the error of the first one that could not be read or written. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#failure === null) return;
    const failure = this.#failure;
    this.#failure = null;
    throw failure;
  }

  /** Adds a record as it is. */
  abstract take(record: LogRecord): void;

  /** Throws if records of this kind are not supported. */
  protected abstract accept(where: string, kind: RecordKind): void;

  /** Makes settled() wait for a promise. */
  protected waitFor(promise: Promise<unknown>): void {
    const pending = promise
      .then(
        () => {},
        (error) => {
          this.#failure ??= error;
        },
      )
      .finally(() => this.#pending.delete(pending));
    this.#pending.add(pending);
  }

  #where(method: string): string {
    return `${this.constructor.name}.${method}`;
  }

  #add<Kind extends RecordKind>(
    method: string,
    kind: Kind,
    tag: string,
    step: number,
    read: (where: string) => Later<LogRecord<Kind>["value"]>,
  ): void {
    const where = this.#where(method);
    this.accept(where, kind);
    const place = placeOf(where, tag, step);
    const value = read(where);
    const take = (value: unknown) => this.take({ kind, ...place, value } as LogRecord);
    if (value instanceof Promise) this.waitFor(value.then(take));
    else take(value);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
