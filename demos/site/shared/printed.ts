// The text that console.log() shows for values in a page.

/** The text of any value: tensors and modules as they print, errors with their code, plain objects as JSON. */
export function printed(value: unknown): string {
  if (value instanceof Error) return "code" in value ? errorText(value) : String(value);
  if (typeof value !== "object" || value === null || hasOwnText(value)) return String(value);
  if (ArrayBuffer.isView(value)) return `[${Array.from(value as Float32Array).join(", ")}]`;
  return jsonText(value);
}

/** The text of an error for the visitor: its code, if it has one, and its message. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string };
  return code === undefined ? error.message : `${code}: ${error.message}`;
}

function hasOwnText(value: object): boolean {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return false;
  return value.toString !== Object.prototype.toString;
}

function jsonText(value: object): string {
  try {
    return JSON.stringify(value, jsonPart);
  } catch {
    return String(value);
  }
}

function jsonPart(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "object" && value !== null && hasOwnText(value) ? String(value) : value;
}
