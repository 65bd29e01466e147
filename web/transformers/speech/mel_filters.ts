// Mel frequencies of Slaney's Auditory Toolbox: equal steps below 1,000 Hz, equal ratios above.

const kKnee = 1000;
const kMelsBelow = 15;
const kRatio = Math.log(6.4) / 27;

const melOf = (hertz: number) =>
  hertz < kKnee ? (hertz * kMelsBelow) / kKnee : kMelsBelow + Math.log(hertz / kKnee) / kRatio;

const hertzOf = (mel: number) =>
  mel < kMelsBelow ? (mel * kKnee) / kMelsBelow : kKnee * Math.exp((mel - kMelsBelow) * kRatio);

/** The sizes of a filter bank. */
export interface FilterSizes {
  readonly samplingRate: number;
  /** The number of filters. */
  readonly count: number;
  /** The number of samples of a spectrum. */
  readonly size: number;
  /** The highest frequency, in hertz. */
  readonly highest: number;
}

/** Returns the weight of each frequency in each filter: triangles of equal area, [count][size / 2 + 1]. */
export function melFilters({ samplingRate, count, size, highest }: FilterSizes): number[][] {
  const step = melOf(highest) / (count + 1);
  const corners = Array.from({ length: count + 2 }, (_, i) => hertzOf(i * step));
  const bins = Math.floor(size / 2) + 1;
  const frequencies = Array.from({ length: bins }, (_, i) => (i * samplingRate) / 2 / (bins - 1));
  return Array.from({ length: count }, (_, i) => {
    const [low, middle, high] = corners.slice(i, i + 3) as [number, number, number];
    return frequencies.map((frequency) => {
      const rising = (frequency - low) / (middle - low);
      const falling = (high - frequency) / (high - middle);
      return (Math.max(0, Math.min(rising, falling)) * 2) / (high - low);
    });
  });
}
