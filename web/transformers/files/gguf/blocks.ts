// The blocks of GGUF's quantized tensors, as codes of eg.quantizedLinear and as numbers.

import type { CodeFormat, CodeRows } from "../../blocks/code_format.js";

/** The columns that share a scale. */
const kGroup = 32;

/** A type of blocks. */
export interface BlockType {
  /** The numbers of a block. */
  readonly size: number;
  /** Its bytes. */
  readonly bytes: number;
  /** The code in the middle, from which those of eg.quantizedLinear count. */
  readonly middle: number;
  /** The numbers that share a scale. */
  readonly group: number;
  /** The codes that stand for the same numbers; null if there are none. */
  readonly format: CodeFormat | null;
  /** Writes the numbers of the block at byte `at` into `target`, as codes from 0, whose groups have the scales and offsets that are written as well. */
  read(view: DataView, at: number, target: Block): void;
}

/** A block that has been read: number i is codes[i] * scales[i / group] + offsets[i / group]. */
export interface Block {
  readonly codes: Uint8Array;
  readonly scales: Float32Array;
  readonly offsets: Float32Array;
}

const inGroups = (bits: 4 | 8, hasOffset: boolean): CodeFormat => ({
  bits,
  groupSize: kGroup,
  hasOffset,
});

/** Returns the number of a float16. */
export function halfOf(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

const half = (view: DataView, at: number) => halfOf(view.getUint16(at, true));

// Blocks of 32: a scale, in some types an offset, in some the fifth bits, and the lower bits of numbers i and i + 16 in byte i.
function simple(bits: 4 | 5, hasOffset: boolean): BlockType {
  const lows = (hasOffset ? 4 : 2) + (bits === 5 ? 4 : 0);
  return {
    size: 32,
    bytes: lows + 16,
    middle: 2 ** (bits - 1),
    group: kGroup,
    format: inGroups(bits === 4 ? 4 : 8, hasOffset),
    read(view, at, target) {
      const scale = half(view, at);
      target.scales[0] = scale;
      target.offsets[0] = hasOffset ? half(view, at + 2) : -scale * 2 ** (bits - 1);
      const highs = bits === 5 ? view.getUint32(at + lows - 4, true) : 0;
      for (let i = 0; i < 16; i++) {
        const pair = view.getUint8(at + lows + i);
        target.codes[i] = (pair & 15) | (((highs >>> i) & 1) << 4);
        target.codes[i + 16] = (pair >> 4) | (((highs >>> (i + 16)) & 1) << 4);
      }
    },
  };
}

const q8: BlockType = {
  size: 32,
  bytes: 34,
  middle: 128,
  group: kGroup,
  format: inGroups(8, false),
  read(view, at, target) {
    const scale = half(view, at);
    target.scales[0] = scale;
    target.offsets[0] = -128 * scale;
    for (let i = 0; i < 32; i++) target.codes[i] = view.getInt8(at + 2 + i) + 128;
  },
};

// Blocks of 256 in eight groups, whose scales and offsets are numbers of six bits times those of the block.
function grouped(bits: 4 | 5): BlockType {
  const lows = bits === 5 ? 48 : 16;
  return {
    size: 256,
    bytes: lows + 128,
    middle: 2 ** (bits - 1),
    group: kGroup,
    format: inGroups(bits === 4 ? 4 : 8, true),
    read(view, at, target) {
      const [scale, least] = [half(view, at), half(view, at + 2)];
      const six = (i: number) => view.getUint8(at + 4 + i);
      for (let group = 0; group < 8; group++) {
        const isFirst = group < 4;
        const factor = isFirst
          ? six(group) & 63
          : (six(group + 4) & 15) | ((six(group - 4) >> 6) << 4);
        const less = isFirst
          ? six(group + 4) & 63
          : (six(group + 4) >> 4) | ((six(group) >> 6) << 4);
        target.scales[group] = scale * factor;
        target.offsets[group] = -least * less;
      }
      for (let i = 0; i < 256; i++) {
        const [group, place] = [i >> 5, i & 31];
        const pair = view.getUint8(at + lows + 32 * (group >> 1) + place);
        const high = bits === 5 ? (view.getUint8(at + 16 + place) >> group) & 1 : 0;
        target.codes[i] = ((group & 1) === 0 ? pair & 15 : pair >> 4) | (high << 4);
      }
    },
  };
}

// Blocks of 256 in sixteen groups, which are smaller than those of eg.quantizedLinear.
const q6: BlockType = {
  size: 256,
  bytes: 210,
  middle: 32,
  group: 16,
  format: null,
  read(view, at, target) {
    const scale = half(view, at + 208);
    for (let group = 0; group < 16; group++) {
      target.scales[group] = scale * view.getInt8(at + 192 + group);
      target.offsets[group] = -32 * (target.scales[group] as number);
    }
    for (let i = 0; i < 256; i++) {
      const [half256, quarter, place] = [i >> 7, (i >> 5) & 3, i & 31];
      const pair = view.getUint8(at + 64 * half256 + 32 * (quarter & 1) + place);
      const high = (view.getUint8(at + 128 + 32 * half256 + place) >> (2 * quarter)) & 3;
      target.codes[i] = (quarter < 2 ? pair & 15 : pair >> 4) | (high << 4);
    }
  },
};

/** The types of blocks by name. */
export const kBlockTypes: Readonly<Record<string, BlockType>> = {
  Q4_0: simple(4, false),
  Q4_1: simple(4, true),
  Q5_0: simple(5, false),
  Q5_1: simple(5, true),
  Q8_0: q8,
  Q4_K: grouped(4),
  Q5_K: grouped(5),
  Q6_K: q6,
};

const newBlock = (): Block => ({
  codes: new Uint8Array(256),
  scales: new Float32Array(16),
  offsets: new Float32Array(16),
});

/** Calls `use` with the blocks that bytes consist of. */
function eachBlock(
  type: BlockType,
  bytes: Uint8Array,
  use: (block: Block, index: number) => void,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const block = newBlock();
  for (let i = 0; i * type.bytes < bytes.length; i++) {
    type.read(view, i * type.bytes, block);
    use(block, i);
  }
}

/** Returns the numbers of blocks. */
export function numbersOf(type: BlockType, bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const { size, group } = type;
  const numbers = new Float32Array((bytes.length / type.bytes) * size);
  eachBlock(type, bytes, ({ codes, scales, offsets }, index) => {
    for (let i = 0; i < size; i++) {
      const own = Math.floor(i / group);
      numbers[index * size + i] =
        (codes[i] as number) * (scales[own] as number) + (offsets[own] as number);
    }
  });
  return numbers;
}

/** Returns the codes of blocks, which follow each other as the columns of rows do. */
export function codesOf(
  type: BlockType,
  { bits, hasOffset }: CodeFormat,
  bytes: Uint8Array,
): CodeRows {
  const { size, middle } = type;
  const count = (bytes.length / type.bytes) * size;
  const codes = new Uint8Array((count * bits) / 8);
  const scales = new Float32Array(count / kGroup);
  const offsets = new Float32Array(hasOffset ? scales.length : 0);
  const shift = 2 ** (bits - 1) - middle;
  eachBlock(type, bytes, (block, index) => {
    for (let group = 0; group < size / kGroup; group++) {
      const at = (index * size) / kGroup + group;
      const scale = block.scales[group] as number;
      scales[at] = scale;
      if (hasOffset) offsets[at] = (block.offsets[group] as number) + middle * scale;
    }
    const start = index * size;
    if (bits === 8) {
      for (let i = 0; i < size; i++) codes[start + i] = (block.codes[i] as number) + shift;
      return;
    }
    for (let i = 0; i < size; i += 2) {
      const [first, second] = [block.codes[i] as number, block.codes[i + 1] as number];
      codes[(start + i) / 2] = first | (second << 4);
    }
  });
  return { codes, scales, offsets: hasOffset ? offsets : null };
}
