// How matrix products are divided among the workgroups of a GPU, for each kind of adapter.
//
// A shape is a workgroup of `across` x `down` invocations, each of which computes `columns` x `rows` results, `steps` steps of the sums at a
// time. What limits it (rates of one multiprocessor of NVIDIA's recent cards, which others resemble: per cycle 128 multiply-adds, 128 bytes
// of workgroup memory, and 4 instructions of 32 invocations; 65,536 registers):
//
//   tile                               128 x 128    64 x 64      64 x 64      64 x 64      32 x 32
//   name                               k128         k64Few       k64Wide      k64          k32
//   invocations                        16 x 16      8 x 8        8 x 16       16 x 16      8 x 8
//   results of each                    8 x 8        8 x 8        8 x 4        4 x 4        4 x 4
//   multiply-adds per step             64           64           32           16           16
//   reads of workgroup memory per step 4            4            3            2            2
//   other instructions per step        5            6            4            3            4
//   multiply-adds of all instructions  88 %         86 %         82 %         76 %         73 %
//   cycles of that memory per 100      38           25           38           75           50
//   bytes from buffers per 1,000       62           125          125          125          250
//   registers of an invocation         128          128          90           58           58
//   invocations at a time (of 2,048)   512          512          640          1,024        1,088
//   bytes of workgroup memory          16,384       8,192        8,192        16,384       4,096
//
// ("per 100" and "per 1,000": of multiply-adds.) A read of four numbers costs a cycle for every eight different places that 32 invocations
// read: the rows of A are the same for 8 or 16 of them, the columns of B are neighbors, so that no bank is asked twice. "Other" are
// addresses, the loop, and a share of what happens once in a tile: 2 to 4 reads of buffers, as many writes to workgroup memory, a
// barrier, comparisons with the end. Few invocations at a time suffice where each has 64 independent sums. By these counts 128 x 128
// reaches 80 to 85 % of the peak if the second level of cache delivers 62 bytes per 1,000 multiply-adds (620 GB/s at 10,000 G/s), the
// others 60 to 75 %. Reads of the next tile are under way while one is computed, and two tiles in workgroup memory leave one barrier per
// tile. Sums across subgroups are not used: results here are independent sums, and WebGPU has no products of matrices in subgroups.
//
// float16 operands, which are read as they are (`shader-f16`), take half the bytes from buffers: 31 per 1,000 for k128, 63 and 125 for the
// others. Products of them are exact in float32, in which they are added; in float16 they could be infinite. There are two ways to get
// there. Where float16 is kept in workgroup memory, that has half the bytes and, as 16 places are read in a cycle, half the cycles:
//
//   name                               k128         k64Few       k64Wide      k64          k32
//   kept: cycles of memory per 100     19           13           19           38           25
//   multiply-adds of all instructions  88 %         86 %         82 %         76 %         73 %
//   the same with conversions          72 %         71 %         63 %         55 %         53 %
//   converted when read from buffers   86 %         85 %         80 %         74 %         70 %
//
// The multiply-adds of AMD's, Apple's and ARM's GPUs take float16 factors with a float32 sum: numbers are kept, and what the memory of a
// workgroup cost beside the instructions is halved. NVIDIA's convert them first, once for every number that an invocation reads (16
// beside 64 multiply-adds); numbers that become float32 on their way from the buffers are converted once in a tile (1 beside 64), and
// the cycles of memory, which are not the limit there, are those of float32. 128 x 128 then needs 310 GB/s at 10,000 G/s.
//
// Only SwiftShader was at hand when the table was written. `npm run bench -- webgpu --tune` measures the shapes on a card and prints its line.

/** How a workgroup and its invocations divide a tile. */
export interface TileShape {
  /** Invocations of a workgroup: powers of two, 8 or more. */
  readonly across: number;
  readonly down: number;
  /** Results of an invocation: multiples of four. */
  readonly columns: number;
  readonly rows: number;
  /** Steps of the sums in workgroup memory: 8 or 16. The invocations read the tiles of both operands in whole rounds, four numbers each. */
  readonly steps: number;
}

/** A shape, and how numbers are in workgroup memory. */
export interface Tile extends TileShape {
  /** Whether float16 numbers stay so, or become float32 when they are read from buffers. */
  readonly keepsHalves: boolean;
}

/** The shapes for an adapter. */
export interface TileClass extends Pick<Tile, "keepsHalves"> {
  /** From the largest tile to the smallest. */
  readonly shapes: readonly TileShape[];
  /** With this many workgroups, the device is busy. */
  readonly busy: number;
}

const k128: TileShape = { across: 16, down: 16, columns: 8, rows: 8, steps: 8 };
const k64Few: TileShape = { across: 8, down: 8, columns: 8, rows: 8, steps: 8 };
const k64Wide: TileShape = { across: 8, down: 16, columns: 8, rows: 4, steps: 8 };
const k64: TileShape = { across: 16, down: 16, columns: 4, rows: 4, steps: 16 };
const k32: TileShape = { across: 8, down: 8, columns: 4, rows: 4, steps: 8 };

/** All shapes, which the tuner measures. */
export const kTileShapes = { k128, k64Few, k64Wide, k64, k32 };

/**
 * By `vendor/architecture`, `vendor`, or "default" (the names of GPUAdapterInfo). Invocations of phones and of Intel's older GPUs have 64
 * registers, so that more than 16 sums would not stay in them; Apple's have more, and fewer multiprocessors to keep busy.
 */
export const kTileClasses: Readonly<Record<string, TileClass>> = {
  default: { shapes: [k64, k32], busy: 48, keepsHalves: true },
  nvidia: { shapes: [k128, k64Wide, k32], busy: 96, keepsHalves: false },
  amd: { shapes: [k128, k64Wide, k32], busy: 80, keepsHalves: true },
  apple: { shapes: [k64Wide, k32], busy: 32, keepsHalves: true },
};

/** Returns the class of an adapter. */
export function tileClassOf(info: Partial<GPUAdapterInfo> | undefined): TileClass {
  const { vendor = "", architecture = "" } = info ?? {};
  const names = [`${vendor}/${architecture}`, vendor, "default"];
  const name = names.find((name) => Object.hasOwn(kTileClasses, name)) as string;
  return kTileClasses[name] as TileClass;
}

/** The lines of the operands in a tile. */
export const linesOf = ({ across, down, columns, rows }: TileShape) => ({
  a: down * rows,
  b: across * columns,
});
