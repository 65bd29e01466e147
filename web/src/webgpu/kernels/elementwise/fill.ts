// Sets contiguous elements to one value.

import type { Fill } from "../../../generated/stream";
import { type ScalarType, withScalars } from "../../scalars";
import { elementType } from "../../shader";
import { invocations } from "../invocations";
import { isWhole, type Kernel } from "../kernel";
import { storeEach } from "./packed";

export const fill: Kernel<Fill> = {
  supported: { all: ["float32", "int32", "int64", "uint8", "bool", "complex64"] },

  play({ count, value: given, y }, commands): void {
    const value = y.dtype === "bool" ? Number(Number(given) !== 0) : given;
    const store = storeEach("y", y, count);
    const type = elementType(y.dtype) as ScalarType;
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
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};
