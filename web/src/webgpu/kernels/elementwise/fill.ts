// Sets contiguous elements to one value, or to numbers in equal steps.

import type { Fill, Ramp } from "../../../generated/stream";
import { elementType } from "../../shader";
import { invocations } from "../invocations";
import { isWhole, type Kernel } from "../kernel";
import { storeEach } from "./packed";

export const fill: Kernel<Fill> = {
  supported: { all: ["float32", "int32", "int64", "uint8", "bool", "complex64"] },

  play({ count, value: given, y }, commands): void {
    const value = y.dtype === "bool" ? Number(given !== 0) : given;
    const store = storeEach("y", y, count);
    const type = elementType(y.dtype);
    const isFloat = type === "f32" || type === "complex";
    commands.dispatch({
      key: `fill ${store.key}`,
      memory: [store.access],
      uniforms: isFloat
        ? { u32: store.uniforms, f32: { value } }
        : { u32: { ...store.uniforms, value } },
      workgroups: invocations(store.uniforms.count),
      body: () => {
        const element = { f32: "u.value", i32: "bitcast<i32>(u.value)", u32: "(u.value & 255u)" };
        const text =
          type === "complex" ? "vec2(u.value, 0f)" : element[type as "f32" | "i32" | "u32"];
        return store.main(() => text);
      },
    });
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};

export const ramp: Kernel<Ramp> = {
  supported: { all: ["float32", "int32", "int64", "uint8", "bool"] },

  play({ count, first, step, y }, commands): void {
    const store = storeEach("y", y, count);
    const type = elementType(y.dtype);
    const isFloat = type === "f32";
    const numbers = { first, step };
    commands.dispatch({
      key: `ramp ${store.key}`,
      memory: [store.access],
      uniforms: {
        u32: store.uniforms,
        ...(isFloat ? { f32: numbers } : { i32: numbers }),
      },
      workgroups: invocations(store.uniforms.count),
      body: () =>
        store.main((i) => {
          if (isFloat) return `fma(f32(${i}), u.step, u.first)`;
          const number = `(u.first + i32(${i}) * u.step)`;
          if (y.dtype === "bool") return `select(0u, 1u, ${number} != 0i)`;
          return type === "u32" ? `(u32(${number}) & 255u)` : number;
        }),
    });
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};
