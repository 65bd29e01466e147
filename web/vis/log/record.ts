// Records: the values that training reports. Logs keep them, and writers write them to files.

import { Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import type { Histogram } from "./histogram.js";
import type { Matrix } from "./matrix.js";
import type { Picture } from "./picture.js";
import { afterwards, type Later, numbersOf } from "./values.js";

/** The types of records' values, by kind. */
export interface RecordValues {
  /** A number: a loss, an accuracy, a learning rate. */
  scalar: number;
  /** A histogram of values. */
  histogram: Histogram;
  /** An image. */
  image: Picture;
  /** A matrix: a confusion matrix, an attention map, the points of an embedding. */
  matrix: Matrix;
  /** A text; TensorBoard shows it as Markdown. */
  text: string;
}

/** The kind of a record. */
export type RecordKind = keyof RecordValues;

/** All kinds. */
export const kKinds: readonly RecordKind[] = ["scalar", "histogram", "image", "matrix", "text"];

/** One value that training reported. */
export type LogRecord<Kind extends RecordKind = RecordKind> = {
  [K in Kind]: {
    /** The kind of value. */
    readonly kind: K;
    /** The name of its series; "/" forms groups: "loss/train". */
    readonly tag: string;
    /** The training step. */
    readonly step: number;
    /** When it was reported, in seconds since 1970. */
    readonly wallTime: number;
    /** The value. */
    readonly value: RecordValues[K];
  };
}[Kind];

/** The series, step and time of a record. */
export interface Place {
  readonly tag: string;
  readonly step: number;
  readonly wallTime: number;
}

/** The maximum length of a tag. */
const kMostCharacters = 1000;

/** Returns the place of a record; throws InvalidArgument for an invalid tag or step. */
export function placeOf(where: string, tag: unknown, step: unknown): Place {
  if (typeof tag !== "string" || tag === "" || tag.length > kMostCharacters)
    refuse(where, "tag", `a text of 1 to ${kMostCharacters} characters`, tag);
  if (typeof step !== "number" || !Number.isSafeInteger(step) || step < 0)
    refuse(where, "step", "an integer from 0 on", step);
  return { tag: tag as string, step: step as number, wallTime: Date.now() / 1000 };
}

/** Returns the value of a scalar, which is a number or a tensor with one element. */
export function scalarOf(where: string, value: number | bigint | Tensor): Later<number> {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (!(value instanceof Tensor) || value.numel !== 1)
    return refuse(where, "value", "a number or a tensor with one element", value);
  return afterwards(numbersOf(where, "value", value), (numbers) => numbers[0] as number);
}

/** Returns the text. */
export function textOf(where: string, text: unknown): string {
  return typeof text === "string" ? text : refuse(where, "text", "a text", text);
}
