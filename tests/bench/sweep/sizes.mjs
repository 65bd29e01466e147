// The sizes of a sweep.

/** `rows` x `columns` = `count` elements, matrices of side `side`, `batch` images. */
export const kSizes = {
  small: { rows: 32, columns: 32, count: 1024, side: 16, batch: 1 },
  medium: { rows: 256, columns: 128, count: 32_768, side: 64, batch: 4 },
  large: { rows: 1024, columns: 512, count: 524_288, side: 200, batch: 50 },
};
