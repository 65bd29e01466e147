// Copies element by element, converting the dtype.

import type { Copy } from "../../../generated/stream";
import type { Block } from "../../blocks";
import { itemSize, kStoredDTypes } from "../../dtype";
import { type ElementType, elementType, storedText } from "../../element_types";
import type { Operand, View } from "../../stream";
import { forEach, invocations } from "../invocations";
import { type Commands, isWhole, type Kernel } from "../kernel";
import {
  type IterationSpace,
  indexOf,
  makeIterationSpace,
  product,
  sizeUniforms,
} from "../strides";
import { inWindows } from "../windows";
import { isPacked, packedMain, packedWords } from "./packed";

export const copy: Kernel<Copy> = {
  supported: { all: kStoredDTypes },

  play({ shape, to, toStrides, from, fromStrides }, commands): void {
    const space = makeIterationSpace(shape, [toStrides, fromStrides]);
    const count = product(space.sizes);
    if (count === 0) return;
    const isLinear = indexOf(space, 0, "to").isLinear && indexOf(space, 1, "from").isLinear;
    if (to.dtype === from.dtype && isLinear)
      copyBytes(commands, to, from, count * itemSize(to.dtype));
    else copyElements(commands, { to, from, space });
  },

  overwrites: ({ shape, to }) => isWhole(to, product(shape)),

  widened({ shape, to, toStrides, from, fromStrides }) {
    const isConverted = to.dtype === "float32" && from.dtype === "float16";
    // Where all elements of memory have the same strides, they have the same places.
    const isInPlace = shape.every((size, d) => size === 1 || toStrides[d] === fromStrides[d]);
    const isWidened = isConverted && isInPlace && isWhole(to, product(shape));
    return isWidened ? { to: to.block, from } : undefined;
  },
};

interface Elements {
  readonly to: View;
  readonly from: View;
  /** The iteration space of the operands `to` and `from`, in this order. */
  readonly space: IterationSpace;
}

function copyElements(commands: Commands, { to, from, space }: Elements): void {
  const [toStrides, fromStrides] = space.strides as [readonly number[], readonly number[]];
  const operands = [
    { view: to, strides: toStrides },
    { view: from, strides: fromStrides },
  ];
  for (const part of inWindows(commands, space.sizes, operands)) {
    const [own, other] = part.operands as [Operand, Operand];
    copyPart(commands, {
      to: own.view,
      from: other.view,
      space: { sizes: part.shape, strides: space.strides },
    });
  }
}

function copyPart(commands: Commands, { to, from, space }: Elements): void {
  const count = product(space.sizes);
  const toIndex = indexOf(space, 0, "to");
  const fromIndex = indexOf(space, 1, "from");
  const type: ElementType = to.dtype === "bool" ? "bool" : elementType(to.dtype);
  const inWords = isPacked(to) && toIndex.isLinear;
  const uniforms = {
    ...sizeUniforms(space),
    ...toIndex.uniforms,
    ...fromIndex.uniforms,
    count: inWords ? packedWords(to.dtype, count) : count,
    elements: count,
  };
  commands.dispatch({
    key: `copy ${space.sizes.length} ${toIndex.key}${inWords ? "p" : ""} ${fromIndex.key}`,
    memory: [
      { name: "to", view: to, mode: "write", as: inWords ? "word" : type },
      { name: "from", view: from, mode: "read", as: type },
    ],
    uniforms: { u32: uniforms },
    workgroups: invocations(uniforms.count),
    body: () =>
      [
        toIndex.text("index_to"),
        fromIndex.text("index_from"),
        inWords
          ? packedMain("to", to.dtype, storedText("load_from(index_from(element))", type, to.dtype))
          : forEach("store_to(index_to(i), load_from(index_from(i)));"),
      ].join("\n"),
  });
}

/** A location in a block; the offset is in bytes. */
interface Location {
  readonly block: Block;
  readonly offset: number;
}

/** Copies bytes between any locations, also within one buffer. */
export function copyBytes(commands: Commands, to: Location, from: Location, bytes: number): void {
  if (bytes === 0) return;
  if (to.block.buffer === from.block.buffer) {
    const between = commands.scratch(bytes, "uint8");
    copyBetween(commands, between, from, bytes);
    copyBetween(commands, to, between, bytes);
  } else {
    copyBetween(commands, to, from, bytes);
  }
}

function copyBetween(commands: Commands, to: Location, from: Location, bytes: number): void {
  const length = Math.ceil(bytes / 4) * 4;
  // Bytes after the last one may be written only if they are the padding of the block.
  const mayRoundUp = length === bytes || to.offset + length === to.block.used;
  if (to.offset % 4 === 0 && from.offset % 4 === 0 && mayRoundUp) {
    commands.copy(to.block, to.offset, from.block, from.offset, length);
    return;
  }
  const space = { sizes: [bytes], strides: [[1], [1]] };
  const view = ({ block, offset }: Location): View => ({ block, offset, dtype: "uint8" });
  copyElements(commands, { to: view(to), from: view(from), space });
}
