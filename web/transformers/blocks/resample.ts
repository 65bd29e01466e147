// Resampling along one dimension, as a matrix.

interface Filter {
  readonly radius: number;
  weight(distance: number): number;
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const kFilters = {
  box: { radius: 0.5, weight: (x: number) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  lanczos: { radius: 3, weight: (x: number) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
} as const satisfies Readonly<Record<string, Filter>>;

/** A filter that eg.interpolate does not have. */
export type MatrixFilter = keyof typeof kFilters | "nearest";

/** Returns the weights of `from` pixels in each of `to` pixels, as Pillow resizes images: [to][from]. When there are fewer pixels, each one is the mean of more. */
export function resamplingMatrix(from: number, to: number, name: MatrixFilter): number[][] {
  const scale = from / to;
  return Array.from({ length: to }, (_, i) => {
    const center = (i + 0.5) * scale;
    const row = new Array<number>(from).fill(0);
    if (name === "nearest") {
      row[Math.min(Math.floor(center), from - 1)] = 1;
      return row;
    }
    const { radius, weight } = kFilters[name];
    const width = Math.max(scale, 1);
    const first = Math.max(0, Math.floor(center - radius * width + 0.5));
    const last = Math.min(from, Math.floor(center + radius * width + 0.5));
    for (let x = first; x < last; x++) row[x] = weight((x + 0.5 - center) / width);
    const sum = row.reduce((all, weight) => all + weight, 0);
    return row.map((weight) => weight / sum);
  });
}
