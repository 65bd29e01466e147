// Sets contiguous elements to one value, or to numbers in equal steps.

import type { Fill, Ramp } from "../../../generated/stream";
import { kRealDTypes, kStoredDTypes } from "../../dtype";
import { elementType } from "../../element_types";
import { type ScalarType, withScalars } from "../../scalars";
import type { View } from "../../stream";
import { invocations } from "../invocations";
import { isWhole, type Kernel } from "../kernel";
import { rangesInWindows } from "../windows";
import { storeEach } from "./packed";

export const fill: Kernel<Fill> = {
  supported: { all: kStoredDTypes },

  play({ count, value: given, y }, commands): void {
    const value = y.dtype === "bool" ? Number(Number(given) !== 0) : given;
    const type = elementType(y.dtype) as ScalarType;
    for (const range of rangesInWindows(commands, count, [y])) {
      const store = storeEach("y", range.views[0] as View, range.count);
      commands.dispatch({
        key: `fill ${store.key}`,
        memory: [store.access],
        uniforms: withScalars(type, store.uniforms, { value }),
        workgroups: invocations(store.uniforms.count),
        body: () => {
          const text = type === "complex" ? "vec2(u.value, 0f)" : "u.value";
          return store.main(() => text);
        },
      });
    }
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};

export const ramp: Kernel<Ramp> = {
  supported: { all: kRealDTypes },

  play({ count, first, step, y }, commands): void {
    const store = storeEach("y", y, count);
    const type = elementType(y.dtype);
    // Numbers that become bytes may be negative before.
    const computed: ScalarType = type === "f32" || type === "i64" ? type : "i32";
    commands.dispatch({
      key: `ramp ${store.key}`,
      memory: [store.access],
      uniforms: withScalars(computed, store.uniforms, { first, step }),
      workgroups: invocations(store.uniforms.count),
      body: () =>
        store.main((i) => {
          if (computed === "f32") return `fma(f32(${i}), u.step, u.first)`;
          if (computed === "i64") return `add_i64(u.first, mul_i64(vec2(${i}, 0u), u.step))`;
          const number = `(u.first + i32(${i}) * u.step)`;
          if (y.dtype === "bool") return `select(0u, 1u, ${number} != 0i)`;
          return type === "u32" ? `(u32(${number}) & 255u)` : number;
        }),
    });
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};
