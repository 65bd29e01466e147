// In-place changes of a view, written back to its base.

import { Call, kEnd, type Writer } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { type Size, type Step, sizeFrom } from "../values.js";
import { kOrders } from "./orders.js";

/** Writes a changed view back to its base. */
export const viewUpdate: Writer = (c) => {
  const [base, value] = [c.value("base"), c.value("value")];
  const view = c.arg("view") as Step;
  const given = new Call(c.exporter, { ...view, values: { ...view.values, input: base } });
  const update = kUpdates[view.op];
  if (update === undefined) noForm(`made by ${view.op}`);
  return update(given, c.as(value, base.dtype), c.number("index"));
};

type Update = (view: Call, value: Name, index: number) => Name;

const alike: Update = (view, value) =>
  view.exporter.reshape(value, view.out.sizes(), view.value("input").sizes());

// Joins the unchanged part before, the changed part and the unchanged part after.
function between(view: Call, value: Name, start: Size, end: Size): Name {
  const axis = view.dim("dim");
  const parts = [
    view.slice(view.in("input"), axis, 0, start),
    value,
    view.slice(view.in("input"), axis, end, kEnd),
  ];
  return view.node("Concat", parts, { axis });
}

const updateSlice: Update = (view, value) => {
  const size = view.value("input").size(view.dim("dim"));
  if (view.number("step") !== 1) noForm("of every n-th element");
  const bound = (name: string, other: Size) => {
    const given = view.isLeftOut(name) ? other : (view.arg(name) as Size);
    return sizeFrom(
      (index, all) => Math.min(index < 0 ? Math.max(0, index + all) : index, all),
      given,
      size,
    );
  };
  const start = bound("start", 0);
  return between(view, value, start, sizeFrom(Math.max, start, bound("end", size)));
};

const updateNarrow: Update = (view, value) => {
  const size = view.value("input").size(view.dim("dim"));
  const start = sizeFrom(
    (index, all) => (index < 0 ? index + all : index),
    view.arg("start") as Size,
    size,
  );
  return between(
    view,
    value,
    start,
    sizeFrom((a, b) => a + b, start, view.arg("length") as Size),
  );
};

const updateSelect: Update = (view, value) => {
  const axis = view.dim("dim");
  const index = sizeFrom(
    (index, all) => (index < 0 ? index + all : index),
    view.arg("index") as Size,
    view.value("input").size(axis),
  );
  return between(
    view,
    view.unsqueeze(value, [axis]),
    index,
    sizeFrom((number) => number + 1, index),
  );
};

const updatePermuted =
  (order: (view: Call, rank: number) => number[]): Update =>
  (view, value) => {
    const perm = order(view, view.value("input").rank);
    return view.transpose(
      value,
      perm.map((_, i) => perm.indexOf(i)),
    );
  };

const kUpdates: Readonly<Record<string, Update>> = {
  alias: alike,
  detach: alike,
  contiguous: alike,
  dropout: alike,
  real: alike,
  conj: alike,
  view: alike,
  reshape: alike,
  viewAs: alike,
  flatten: alike,
  unflatten: alike,
  squeeze: alike,
  unsqueeze: alike,
  slice: updateSlice,
  narrow: updateNarrow,
  select: updateSelect,
  ...Object.fromEntries(
    Object.entries(kOrders).map(([name, order]) => [name, updatePermuted(order)]),
  ),
};
