// The moments of a chapter: forward op by op, the seed, then backward op by op; what is known at each, and one explanation.

import { isShort, numbersText } from "./numbers.js";
import type { Trace, TracedEdge } from "./trace.js";

/** A moment. */
export interface Step {
  readonly kind: "inputs" | "forward" | "seed" | "backward";
  /** The value whose op runs; -1 for the inputs. */
  readonly value: number;
  readonly title: string;
  readonly text: string;
}

/** What is known at a moment. */
export interface Known {
  /** For each value, whether it has been computed. */
  readonly values: readonly boolean[];
  /** For each value, the gradient that it has received so far. */
  readonly gradients: readonly (readonly number[] | null)[];
  /** For each edge, whether a gradient has passed along it. */
  readonly edges: readonly boolean[];
}

/** Lists the moments of a trace. */
export function stepsOf(trace: Trace): Step[] {
  const { values, backward } = trace;
  const last = values.length - 1;
  const forward = values.flatMap(({ symbol, name, formula, numbers, shape }, value): Step[] =>
    symbol === null
      ? []
      : [
          {
            kind: "forward",
            value,
            title: `Forward: ${name}`,
            text: isShort(shape)
              ? `${name} = ${formula} = ${numbersText(numbers, shape)}`
              : `${name} = ${formula}: ${numbersText(numbers, shape)}, listed beside the graph.`,
          },
        ],
  );
  return [
    {
      kind: "inputs",
      value: -1,
      title: "The inputs",
      text: "Nothing is computed yet. The arrow keys go forward and back.",
    },
    ...forward,
    {
      kind: "seed",
      value: last,
      title: `Backward begins at ${values[last]?.name}`,
      text: `If ${values[last]?.name} grows by a little, it grows by just that: its gradient with respect to itself is 1.`,
    },
    ...backward.map(
      (value, i): Step => ({
        kind: "backward",
        value,
        title: `Backward through ${values[value]?.symbol}`,
        text: backwardText(trace, value, backward.slice(0, i)),
      }),
    ),
  ];
}

/** Returns what is known after the first `count` moments. */
export function knownAfter(trace: Trace, steps: readonly Step[], count: number): Known {
  const past = steps.slice(0, count + 1);
  const ran = new Set(past.filter(({ kind }) => kind === "forward").map(({ value }) => value));
  const back = past.filter(({ kind }) => kind === "backward").map(({ value }) => value);
  const hasSeed = past.some(({ kind }) => kind === "seed");
  const last = trace.values.length - 1;
  return {
    values: trace.values.map(({ symbol }, id) => symbol === null || ran.has(id)),
    gradients: trace.values.map((_, id) =>
      id === last ? (hasSeed ? [1] : null) : receivedFrom(trace, id, back),
    ),
    edges: trace.edges.map(({ to, gradient }) => gradient !== null && back.includes(to)),
  };
}

// The sum of what these ops have sent to a value.
function receivedFrom(trace: Trace, id: number, ops: readonly number[]): readonly number[] | null {
  const parts = trace.edges
    .filter(({ from, to, gradient }) => from === id && ops.includes(to) && gradient !== null)
    .map(({ gradient }) => gradient as readonly number[]);
  const [first, ...rest] = parts;
  if (first === undefined) return null;
  return rest.reduce<readonly number[]>(
    (sum, part) => sum.map((x, i) => x + (part[i] ?? 0)),
    first,
  );
}

function backwardText(trace: Trace, id: number, before: readonly number[]): string {
  const value = trace.values[id];
  if (value === undefined) return "";
  const arriving = numbersText(value.gradient ?? [], value.shape);
  const edges = trace.edges.filter(({ to, gradient }) => to === id && gradient !== null);
  const sent = edges.map((edge, i) => sentText(trace, edge, before, edges.slice(0, i)));
  return [`The gradient of ${value.name} is ${arriving}.`, value.rule, ...sent].join(" ");
}

function sentText(
  trace: Trace,
  { from, slope, gradient, to }: TracedEdge,
  before: readonly number[],
  siblings: readonly TracedEdge[],
): string {
  const operand = trace.values[from];
  const arriving = trace.values[to];
  if (operand === undefined || arriving === undefined || gradient === null) return "";
  const got = numbersText(gradient, operand.shape);
  const how =
    slope === null
      ? got
      : `${numbersText(arriving.gradient ?? [], [])} · ${numbersText([slope], [])} = ${got}`;
  const earlier = receivedFrom(trace, from, before);
  const again = earlier !== null || siblings.some((sibling) => sibling.from === from);
  const sum = again ? " That is added to what it received before." : "";
  return `${operand.name} receives ${how}.${sum}`;
}
