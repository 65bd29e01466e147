// Branches and loops over graphs that are attributes.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Host, hostInt } from "../values/host.js";
import { number, sequence, tensor, type Value } from "../values/value.js";
import { axisOf, range } from "./axes.js";
import { type Call, int, maybeGraph, maybeInts, type Ops, op } from "./op.js";

type Graph = NonNullable<(typeof maybeGraph)["missing"]>;

function graphOf(graph: Graph | undefined): Graph {
  return graph ?? fail("InvalidArgument", "OnnxModule", "its graph is missing.");
}

const isTrue = (value: Value) => (number(value) ?? 1) !== 0;

// The body takes the iteration number, a condition and the carried values. It returns a condition, the new carried values, and values
// that are collected from every iteration.
function loop([count, condition, ...first]: readonly Value[], body: Graph, call: Call): Value[] {
  const most = number(count) ?? Number.POSITIVE_INFINITY;
  const collected: Value[][] = body.outputs.slice(1 + first.length).map(() => []);
  let carried: readonly Value[] = first;
  let goesOn = isTrue(condition);
  for (let i = 0; i < most && goesOn; i++) {
    const given = new Host("bool", [], [1]);
    const [next, ...results] = call.run(body, [hostInt(i), given, ...carried]);
    goesOn = isTrue(next);
    call.free([next, ...carried]);
    carried = results.slice(0, first.length);
    results.slice(first.length).forEach((value, at) => {
      collected[at]?.push(value);
    });
  }
  return [...carried, ...collected.map((values) => stacked(values, 0))];
}

function stacked(values: readonly Value[], axis: number): Value {
  if (values.length === 0) return eg.zeros([0]);
  return eg.stack(values.map(tensor), axis);
}

interface ScanAttributes {
  readonly num_scan_inputs: number;
  readonly scan_input_axes: readonly number[] | undefined;
  readonly scan_input_directions: readonly number[] | undefined;
  readonly scan_output_axes: readonly number[] | undefined;
  readonly scan_output_directions: readonly number[] | undefined;
}

function scan(inputs: readonly Value[], body: Graph, given: ScanAttributes, call: Call): Value[] {
  const states = inputs.length - given.num_scan_inputs;
  const scanned = inputs.slice(states).map(tensor);
  const axes = scanned.map((input, i) => axisOf(given.scan_input_axes?.[i] ?? 0, input.ndim));
  const length = scanned[0]?.shape[axes[0] as number] ?? 0;
  const collected: Value[][] = body.outputs.slice(states).map(() => []);
  let carried: readonly Value[] = inputs.slice(0, states);
  for (const i of range(length)) {
    const parts = scanned.map((input, at) => {
      const isReversed = given.scan_input_directions?.[at] === 1;
      return eg.select(input, axes[at] as number, isReversed ? length - 1 - i : i);
    });
    const results = call.run(body, [...carried, ...parts]);
    call.free(carried);
    carried = results.slice(0, states);
    results.slice(states).forEach((value, at) => {
      collected[at]?.push(value);
    });
  }
  const outputs = collected.map((values, at) => {
    const ordered = given.scan_output_directions?.[at] === 1 ? [...values].reverse() : values;
    return stacked(ordered, given.scan_output_axes?.[at] ?? 0);
  });
  return [...carried, ...outputs];
}

// Version 8 has a leading batch axis on all values, and an input with lengths.
function batchedScan(
  [, ...inputs]: readonly Value[],
  body: Graph,
  given: ScanAttributes,
  call: Call,
): Value[] {
  const all = inputs.map(tensor);
  const batches = range(all[0]?.shape[0] ?? 0).map((i) =>
    scan(
      all.map((input) => eg.select(input, 0, i)),
      body,
      given,
      call,
    ),
  );
  return range(batches[0]?.length ?? 0).map((i) =>
    stacked(
      batches.map((batch) => batch[i]),
      0,
    ),
  );
}

const kScan = {
  body: maybeGraph,
  num_scan_inputs: int(1),
  directions: maybeInts,
  scan_input_axes: maybeInts,
  scan_input_directions: maybeInts,
  scan_output_axes: maybeInts,
  scan_output_directions: maybeInts,
};

export const kControl: Ops = {
  If: op({
    attributes: { then_branch: maybeGraph, else_branch: maybeGraph },
    ownTypes: true,
    run: ([condition], { then_branch, else_branch }, call) =>
      call.run(graphOf(isTrue(condition) ? then_branch : else_branch), []),
  }),
  Loop: op({
    attributes: { body: maybeGraph },
    ownTypes: true,
    run: (inputs, { body }, call) => loop(inputs, graphOf(body), call),
  }),
  Scan: op({
    since: 8,
    attributes: kScan,
    ownTypes: true,
    run: (inputs, { body, directions, ...given }, call) =>
      call.version === 8
        ? batchedScan(inputs, graphOf(body), { ...given, scan_input_directions: directions }, call)
        : scan(inputs, graphOf(body), given, call),
  }),
  SequenceMap: op({
    since: 17,
    attributes: { body: maybeGraph },
    ownTypes: true,
    run: ([first, ...others], { body }, call) => {
      const graph = graphOf(body);
      const results = sequence(first).map((item, i) =>
        call.run(graph, [
          item,
          ...others.map((other) => (Array.isArray(other) ? other[i] : other)),
        ]),
      );
      return graph.outputs.map((_, at) => results.map((values) => values[at]));
    },
  }),
};
