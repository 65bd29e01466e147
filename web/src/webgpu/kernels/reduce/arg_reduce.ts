// The first largest or smallest element along a dimension, and its index.

import type { ArgReduce } from "../../../generated/stream";
import { kRealDTypes } from "../../dtype";
import { kWgslTypes } from "../../element_types";
import type { Kernel } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane } from "../lanes";
import { equalText, lessText, type OrderedType, orderedType } from "../ordered";
import { indexOf, product, sizeUniforms } from "../strides";
import { isRowMajor, splitShape } from "./reduce";

export const argReduce: Kernel<ArgReduce> = {
  supported: {
    views: [kRealDTypes, ["float32", "int64"], ["int64"]],
  },

  play({ largest, shape, dim, x, xStrides, values, indices }, commands): void {
    const { kept, reduced } = splitShape(shape, [dim], xStrides);
    const positions = product(kept.sizes);
    const size = product(reduced.sizes);
    if (positions === 0 || size === 0) return;
    const from = indexOf(kept, 0, "kept", "kept");
    const along = indexOf(reduced, 0, "along", "along");
    const chosen = chooseLanes(commands, positions, size, isRowMajor({ kept, reduced }));
    const type = orderedType(x.dtype);
    const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
      key: `arg_reduce ${largest} ${kept.sizes.length} ${reduced.sizes.length} ${from.key} ${along.key}`,
      memory: [
        { name: "x", view: x, mode: "read", as: type },
        { name: "values", view: values, mode: "write", as: type },
        { name: "indices", view: indices, mode: "write", as: "index" },
      ],
      uniforms: {
        u32: {
          ...sizeUniforms(kept, "kept"),
          ...sizeUniforms(reduced, "along"),
          ...from.uniforms,
          ...along.uniforms,
          positions,
          size,
        },
      },
      body: () =>
        [
          from.text("index_kept"),
          along.text("index_along"),
          betterText(type, largest),
          combineLanes("best_of_lanes", lanes, { type: "Place", text: "better(a, b)" }),
          forEachLane(
            lanes,
            `let first = index_kept(position);
  // A lane without elements repeats the first one.
  var best = Place(load_x(first + index_along(lane % u.size)), lane % u.size);
  for (var k = lane + kLanes; k < u.size; k += kLanes) {
    best = better(best, Place(load_x(first + index_along(k)), k));
  }
  best = best_of_lanes(thread, best);
  if (lane == 0u && is_inside) {
    store_values(position, best.value);
    store_indices(position, i32(best.index));
  }`,
          ),
        ].join("\n"),
    }));
    commands.dispatch(dispatch);
  },
};

// Selects the first of equal elements, and the first of several NaNs.
function betterText(type: OrderedType, largest: boolean): string {
  const beats = largest
    ? lessText(type, "a.value", "b.value")
    : lessText(type, "b.value", "a.value");
  const isFirst = `(${equalText(type, "b.value", "a.value")} && b.index < a.index)`;
  const place = `struct Place { value: ${kWgslTypes[type]}, index: u32 }`;
  if (type !== "f32")
    return `${place}
fn better(a: Place, b: Place) -> Place {
  if (${beats} || ${isFirst}) {
    return b;
  }
  return a;
}`;
  return `${place}
fn better(a: Place, b: Place) -> Place {
  let a_is_nan = is_nan_f32(a.value);
  let b_is_nan = is_nan_f32(b.value);
  if (a_is_nan || b_is_nan) {
    if (b_is_nan && (!a_is_nan || b.index < a.index)) {
      return b;
    }
    return a;
  }
  if (${beats} || ${isFirst}) {
    return b;
  }
  return a;
}`;
}
