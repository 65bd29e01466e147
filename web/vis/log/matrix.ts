// Matrices: confusion matrices, attention maps, points of an embedding.

import { type NumericArray, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { afterwards, type Later, numbersOf, type Values } from "./values.js";

/** A matrix with the names of its rows and columns. */
export interface Matrix {
  /** The number of rows. */
  readonly rows: number;
  /** The number of columns. */
  readonly columns: number;
  /** The elements, row by row. */
  readonly values: Float64Array;
  /** The names of the rows, or null. */
  readonly rowLabels: readonly string[] | null;
  /** The names of the columns, or null. */
  readonly columnLabels: readonly string[] | null;
}

/** The names of a matrix's rows and columns. */
export interface MatrixLabels {
  /** The names of the rows. */
  rows?: readonly string[];
  /** The names of the columns. */
  columns?: readonly string[];
}

/** A matrix: a tensor with two dimensions, or rows of numbers. */
export type MatrixValues = Tensor | readonly (NumericArray | readonly number[])[];

/** The limit on elements of a matrix. */
const kMost = 2 ** 22;

/** Returns a matrix with the present values; a promise for a tensor on another device than the CPU. */
export function matrixOf(
  where: string,
  values: MatrixValues,
  labels: MatrixLabels = {},
): Later<Matrix> {
  const [rows, columns] = shapeOf(where, values);
  if (rows * columns > kMost)
    refuse(where, "values", `at most ${kMost} elements`, `shape [${rows}, ${columns}]`);
  const rowLabels = labelsOf(where, "labels.rows", labels.rows, rows);
  const columnLabels = labelsOf(where, "labels.columns", labels.columns, columns);
  const elements =
    values instanceof Tensor ? values : values.flatMap((row) => [...row] as number[]);
  return afterwards(numbersOf(where, "values", elements), (read) => {
    const own = Float64Array.from(read);
    return { rows, columns, values: own, rowLabels, columnLabels };
  });
}

/**
 * Returns the confusion matrix: row i and column j count the samples of class i that were predicted as j. Classes are integers from 0 to
 * `classes` - 1, in tensors on the CPU or arrays.
 */
export function confusionMatrix(targets: Values, predictions: Values, classes: number): number[][] {
  const where = "confusionMatrix";
  if (!Number.isSafeInteger(classes) || classes < 1 || classes * classes > kMost)
    refuse(where, "classes", `an integer from 1 to ${Math.sqrt(kMost)}`, classes);
  const [wanted, got] = [
    numbersOf(where, "targets", targets),
    numbersOf(where, "predictions", predictions),
  ];
  if (wanted instanceof Promise || got instanceof Promise)
    return refuse(where, "targets and predictions", "tensors on the CPU", "a tensor elsewhere");
  if (wanted.length !== got.length)
    refuse(where, "predictions", `as many as targets, ${wanted.length}`, got.length);
  const counts = Array.from({ length: classes }, () => new Array<number>(classes).fill(0));
  for (let i = 0; i < wanted.length; i++) {
    const [row, column] = [wanted[i] as number, got[i] as number];
    for (const axis of [row, column])
      if (!Number.isInteger(axis) || axis < 0 || axis >= classes)
        refuse(where, "targets and predictions", `classes from 0 to ${classes - 1}`, axis);
    const counted = counts[row] as number[];
    counted[column] = (counted[column] as number) + 1;
  }
  return counts;
}

function shapeOf(where: string, values: MatrixValues): [rows: number, columns: number] {
  if (values instanceof Tensor) {
    const { shape } = values;
    if (shape.length !== 2 || values.numel === 0)
      return refuse(where, "values", "two dimensions, not empty", `shape [${shape}]`);
    return shape as [number, number];
  }
  const columns = Array.isArray(values) ? (values[0]?.length ?? 0) : 0;
  if (columns === 0)
    return refuse(where, "values", "a tensor or rows of numbers, not empty", values);
  const different = values.findIndex((row) => row?.length !== columns);
  if (different !== -1)
    return refuse(where, `values[${different}]`, `${columns} numbers`, values[different]);
  return [values.length, columns];
}

function labelsOf(
  where: string,
  name: string,
  labels: readonly string[] | undefined,
  count: number,
): readonly string[] | null {
  if (labels === undefined) return null;
  if (!Array.isArray(labels) || labels.length !== count)
    return refuse(where, name, `${count} names`, labels?.length ?? labels);
  return labels.map(String);
}
