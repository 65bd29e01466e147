// The text of modules as PyTorch prints it, with Python's spelling of names and values.

/** A value in the text of a layer. */
export type Printable = number | boolean | string | null | readonly (number | null)[];

/** Returns the text of a module from its arguments and the lines of its parts. */
export function formatModule(name: string, args: string, parts: readonly string[]): string {
  if (parts.length === 0) return `${name}(${args})`;
  const lines = [...(args === "" ? [] : [args]), ...parts].map((line) => `\n  ${indented(line)}`);
  return `${name}(${lines.join("")}\n)`;
}

/** Returns one line for each run of parts with the same text: "(0-2): 3 x ReLU()". */
export function formatRuns(texts: readonly string[]): string[] {
  const starts = texts.flatMap((text, i) => (text === texts[i - 1] ? [] : [i]));
  return starts.map((start, run) => {
    const end = (starts[run + 1] ?? texts.length) - 1;
    const place = start === end ? `(${start}): ` : `(${start}-${end}): ${end - start + 1} x `;
    return place + texts[start];
  });
}

/** Returns arguments as in a call: "2, 3, bias=True"; omits those that are undefined. */
export function formatArguments(
  positional: readonly Printable[],
  named: Readonly<Record<string, Printable | undefined>> = {},
): string {
  const pairs = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`${snakeCase(name)}=${formatValue(value)}`],
  );
  return [...positional.map(formatValue), ...pairs].join(", ");
}

/** Returns the text of a number that is a float in Python: 1.0 where JavaScript writes 1. */
export function formatFloat(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf");
  return Number.isInteger(value) ? value.toFixed(1) : formatNumber(value);
}

/** Returns a value as Python prints it, an array as a tuple. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return formatNumber(value);
  if (!Array.isArray(value)) return String(value);
  return `(${value.map(formatValue).join(", ")}${value.length === 1 ? "," : ""})`;
}

// Python writes 1e-05 where JavaScript writes 0.00001.
function formatNumber(value: number): string {
  if (value === 0 || Math.abs(value) >= 1e-4 || !Number.isFinite(value)) return String(value);
  return value.toExponential().replace(/-(\d)$/, "-0$1");
}

/** Returns the Python spelling of a name. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n  ");
}
