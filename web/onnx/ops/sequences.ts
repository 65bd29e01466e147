// Sequences of tensors, and values that may be missing.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Host, hostInt } from "../values/host.js";
import { ints, number, sequence, shapeOf, tensor, type Value } from "../values/value.js";
import { axisOf, range } from "./axes.js";
import { flag, ignored, int, type Ops, op } from "./op.js";

function place(length: number, position: Value, most: number): number {
  const at = number(position) ?? most;
  const result = at < 0 ? at + length : at;
  if (Number.isInteger(result) && result >= 0 && result <= most) return result;
  return fail("IndexOutOfRange", "OnnxModule", `position ${at} of a sequence of ${length}.`);
}

function splitToSequence(input: Value, sizes: Value, axis: number, keepsAxis: boolean): Value[] {
  const x = tensor(input);
  const dim = axisOf(axis, x.ndim);
  const size = x.shape[dim] as number;
  if (sizes === undefined) {
    const parts = eg.unbind(x, dim);
    return keepsAxis ? parts.map((part) => part.unsqueeze(dim)) : [...parts];
  }
  const given = ints(sizes) ?? [];
  const [each = 1] = given;
  if (shapeOf(sizes).length > 0) return [...eg.splitWithSizes(x, given, dim)];
  const starts = range(Math.ceil(size / each)).map((i) => i * each);
  return starts.map((start) => eg.narrow(x, dim, start, Math.min(each, size - start)));
}

export const kSequences: Ops = {
  SequenceConstruct: op({ since: 11, run: (inputs) => [[...inputs]] }),
  SequenceEmpty: op({ since: 11, attributes: { dtype: ignored }, run: () => [[]] }),
  SequenceAt: op({
    since: 11,
    run: ([values, position]) => {
      const list = sequence(values);
      return [list[place(list.length, position, list.length - 1)]];
    },
  }),
  SequenceInsert: op({
    since: 11,
    run: ([values, value, position]) => {
      const list = [...sequence(values)];
      list.splice(place(list.length, position, list.length), 0, value);
      return [list];
    },
  }),
  SequenceErase: op({
    since: 11,
    run: ([values, position]) => {
      const list = sequence(values);
      const at = place(list.length, position ?? hostInt(list.length - 1), list.length - 1);
      return [list.filter((_, i) => i !== at)];
    },
  }),
  SequenceLength: op({ since: 11, run: ([values]) => hostInt(sequence(values).length) }),
  SplitToSequence: op({
    since: 11,
    attributes: { axis: int(0), keepdims: flag(true) },
    run: ([x, sizes], { axis, keepdims }) => [splitToSequence(x, sizes, axis, keepdims)],
  }),
  ConcatFromSequence: op({
    since: 11,
    attributes: { axis: int(0), new_axis: flag(false) },
    run: ([values], { axis, new_axis }) => {
      const list = sequence(values).map(tensor);
      return new_axis ? eg.stack(list, axis) : eg.cat(list, axis);
    },
  }),
  Optional: op({ since: 15, attributes: { type: ignored }, run: ([value = null]) => [value] }),
  OptionalGetElement: op({
    since: 15,
    run: ([value]) => {
      if (value !== null && value !== undefined) return [value];
      return fail("InvalidArgument", "OnnxModule", "the optional has no value.");
    },
  }),
  OptionalHasElement: op({
    since: 15,
    run: ([value]) => new Host("bool", [], [Number(value !== null && value !== undefined)]),
  }),
};
