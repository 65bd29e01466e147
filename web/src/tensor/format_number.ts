// The number format of PyTorch's printing: all numbers of a tensor have the same notation and width.

import type { Item } from "./elements.js";

const kPrecision = 4;

/** Prints the numbers of one tensor. */
export interface Format {
  /** The number of characters of the widest number. */
  readonly width: number;
  print(value: Item): string;
}

/** Chooses the notation in which `values` are printed. */
export function chooseFormat(values: readonly Item[], isFloat: boolean): Format {
  if (!isFloat) return padded(values, printExact);
  const numbers = values.map(Number).filter((value) => Number.isFinite(value) && value !== 0);
  if (numbers.length === 0) return { width: 1, print: (value) => printWhole(Number(value)) };
  const sizes = numbers.map(Math.abs);
  const min = sizes.reduce((a, b) => Math.min(a, b));
  const max = sizes.reduce((a, b) => Math.max(a, b));
  const isWhole = numbers.every(Number.isInteger);
  const isWide = max / min > 1000 || max > 1e8 || (!isWhole && min < 1e-4);
  if (isWide) return padded(numbers, printScientific);
  return padded(numbers, isWhole ? printWhole : printFixed);
}

function padded(values: readonly Item[], print: (value: number) => string): Format;
function padded(values: readonly Item[], print: (value: Item) => string): Format;
function padded(values: readonly Item[], print: (value: never) => string): Format {
  const text = print as (value: Item) => string;
  const width = values.reduce((widest: number, value) => Math.max(widest, text(value).length), 1);
  return { width, print: (value) => text(value).padStart(width) };
}

function printExact(value: Item): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value);
}

// A whole number of a float type, which ends with a decimal point.
function printWhole(value: number): string {
  if (!Number.isFinite(value)) return printNonFinite(value);
  return `${Object.is(value, -0) ? "-0" : value.toFixed(0)}.`;
}

function printFixed(value: number): string {
  if (!Number.isFinite(value)) return printNonFinite(value);
  const text = halfToEven(value, (x, digits) => x.toFixed(digits), "");
  return Object.is(value, -0) ? `-${text}` : text;
}

function printScientific(value: number): string {
  if (!Number.isFinite(value)) return printNonFinite(value);
  const text = halfToEven(value, (x, digits) => x.toExponential(digits), "e");
  const padded = text.replace(/e([+-])(\d)$/, "e$10$2");
  return Object.is(value, -0) ? `-${padded}` : padded;
}

function printNonFinite(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// JavaScript rounds a decimal tie away from zero, Python to the even digit. A tie is detected by printing
// so many digits that only a tie shows nothing but zeros after the 5.
function halfToEven(
  value: number,
  print: (value: number, digits: number) => string,
  exponentMark: string,
): string {
  const text = print(value, kPrecision);
  const [mantissa = ""] =
    exponentMark === "" ? [print(value, 60)] : print(value, 60).split(exponentMark);
  const tail = mantissa.slice(mantissa.indexOf(".") + 1 + kPrecision);
  if (!/^50*$/.test(tail)) return text;
  const lower = mantissa.slice(0, mantissa.length - tail.length);
  const isEven = "02468".includes(lower[lower.length - 1] ?? "0");
  if (!isEven) return text;
  return exponentMark === "" ? lower : lower + text.slice(text.indexOf(exponentMark));
}
