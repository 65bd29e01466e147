// How developer tools show tensors, if "custom formatters" are on in their settings (Chromium, Firefox, `node --inspect`).

import { readNothing } from "../arguments/read.js";
import { Tensor } from "./tensor.js";

/** An element, its attributes and its children, or a value that the tools show themselves. */
type Markup = readonly [
  tag: string,
  attributes: Readonly<Record<string, unknown>>,
  ...children: (Markup | string)[],
];

interface Formatter {
  header(value: unknown): Markup | null;
  hasBody(value: unknown): boolean;
  body(value: unknown): Markup | null;
}

const kTensors: Formatter = {
  header: (value) =>
    value instanceof Tensor ? ["span", {}, attempted(() => summaryOf(value))] : null,
  hasBody: (value) => value instanceof Tensor && !value.disposed,
  body: (value) => (value instanceof Tensor ? ["div", kIndented, ...detailsOf(value)] : null),
};

const kIndented = { style: "margin-left: 12px" };
const kPre = { style: "margin: 0; white-space: pre; font-family: monospace" };

/**
 * Makes the console and the debugger of browsers show the elements, shape, dtype and gradient of tensors, where their setting
 * "Custom formatters" is on. Later calls have no effect. Elements on a GPU are not read.
 */
export function addDevtoolsFormatter(...given: []): void {
  readNothing("addDevtoolsFormatter", given);
  const global = globalThis as { devtoolsFormatters?: Formatter[] };
  global.devtoolsFormatters ??= [];
  if (!global.devtoolsFormatters.includes(kTensors)) global.devtoolsFormatters.push(kTensors);
}

// The text if it is short, otherwise what kind of tensor it is.
function summaryOf(tensor: Tensor): string {
  if (tensor.disposed) return "tensor(disposed)";
  const { shape, dtype, device, requiresGrad } = tensor;
  const text = tensor.numel <= kMostInSummary && device === "cpu" ? String(tensor) : "\n";
  if (!text.includes("\n")) return text;
  const place = device === "cpu" ? "" : ` on ${device}`;
  return `${tensor.constructor.name} ${dtype} [${shape.join(", ")}]${place}${requiresGrad ? ", requiresGrad" : ""}`;
}

const kMostInSummary = 8;

function detailsOf(tensor: Tensor): Markup[] {
  const text = attempted(() =>
    tensor.device === "cpu"
      ? String(tensor)
      : "The elements are on the GPU: read them with await x.array().",
  );
  const names = ["shape", "dtype", "device", "requiresGrad", "grad", "gradFn"] as const;
  const lines = names.map((name): Markup => {
    const value = attempted(() => tensor[name]);
    const isObject = typeof value === "object" && value !== null;
    return ["div", {}, `${name}: `, isObject ? ["object", { object: value }] : String(value)];
  });
  return [["div", kPre, text], ...lines];
}

// The engine may have been shut down: the tools show the reason instead of failing.
function attempted<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
}
