// Pictures that a program draws, with what is to be recognized in each: a shape, its color, and its pattern, at any place, size and
// angle, before any background and in any light.

import { kSide } from "./model.mjs";

// The distance of a point from the edge of a shape of radius 1 around 0, negative inside; it need not be exact.
const kShapes = {
  disc: (x, y) => Math.hypot(x, y) - 1,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) - 0.85,
  triangle: (x, y) => Math.max(Math.abs(x) * 0.87 + y * 0.5, -y) - 0.55,
  star: (x, y) => Math.hypot(x, y) - 0.7 - 0.3 * Math.cos(5 * Math.atan2(y, x)),
  cross: (x, y) =>
    Math.min(
      Math.max(Math.abs(x) - 1, Math.abs(y) - 0.32),
      Math.max(Math.abs(y) - 1, Math.abs(x) - 0.32),
    ),
  ring: (x, y) => Math.abs(Math.hypot(x, y) - 0.72) - 0.26,
  hexagon: (x, y) => Math.max(Math.abs(x) * 0.87 + Math.abs(y) * 0.5, Math.abs(y)) - 0.85,
  heart: (x, y) => Math.hypot(x, -y * 1.15 + 0.55 * Math.sqrt(Math.abs(x)) - 0.25) - 0.9,
  crescent: (x, y) => Math.max(Math.hypot(x, y) - 1, 0.8 - Math.hypot(x - 0.5, y)),
  bar: (x, y) => Math.max(Math.abs(x) - 1.1, Math.abs(y) - 0.3),
  corner: (x, y) => Math.max(Math.max(Math.abs(x), Math.abs(y)) - 0.9, Math.min(x, y) + 0.25),
  bolt: (x, y) =>
    Math.max(Math.abs(y) - 1, Math.abs(x + 0.5 * Math.sign(y) * (Math.abs(y) - 0.4)) - 0.3),
};

// Hue in degrees, saturation and lightness of colors.
const kColors = [
  [0, 0.8, 0.45],
  [30, 0.85, 0.5],
  [55, 0.85, 0.5],
  [120, 0.6, 0.38],
  [180, 0.65, 0.42],
  [220, 0.75, 0.45],
  [280, 0.6, 0.45],
  [330, 0.7, 0.6],
  [0, 0, 0.12],
  [0, 0, 0.9],
];

// How much of the second color a point of a pattern has; `scale` is the number of repetitions.
const kPatterns = [
  () => 0,
  (x) => wave(x),
  (x, y) => (wave(x) === wave(y) ? 0 : 1),
  (x, y) => (Math.hypot(fraction(x) - 0.5, fraction(y) - 0.5) < 0.3 ? 1 : 0),
  (x, y) => wave(Math.hypot(x, y)),
  (x, y) => Math.min(1, Math.max(0, 0.5 + 0.5 * Math.sin(3 * x + 2 * Math.sin(2 * y)))),
];

/** What is recognized in a picture: the number of kinds by name. */
export const kTargets = {
  shape: Object.keys(kShapes).length,
  color: kColors.length,
  pattern: kPatterns.length,
};

const kShapeList = Object.values(kShapes);

/**
 * Draws a picture.
 * @param {() => number} random draws numbers from 0 to 1
 * @returns {{ pixels: Float32Array, shape: number, color: number, pattern: number }} pixels [3, 64, 64] from 0 to 1
 */
export function drawPicture(random) {
  const between = (low, high) => low + (high - low) * random();
  const below = (count) => Math.floor(random() * count);
  const kinds = {
    shape: below(kTargets.shape),
    color: below(kTargets.color),
    pattern: below(kTargets.pattern),
  };
  const shape = kShapeList[kinds.shape];
  const foreground = filled(between, kinds.color, kinds.pattern);
  const behind = random() < 0.6 ? 0 : below(kTargets.pattern);
  const background = filled(between, below(kTargets.color), behind, 0.2);
  const clutter = Array.from({ length: below(3) }, () => ({
    place: placed(between, 0.12, 0.25, 0.95),
    shape: kShapeList[below(kShapeList.length)],
    fill: filled(between, below(kTargets.color), 0),
  }));
  const place = placed(between, 0.32, 0.62, 0.3);
  const light = { angle: between(0, 6.3), amount: between(0, 0.35), gain: between(0.65, 1.2) };
  const tint = [between(0.85, 1.1), between(0.85, 1.1), between(0.85, 1.1)];
  const noise = between(0, 0.06);
  const softness = between(0.03, 0.12);
  const pixels = new Float32Array(3 * kSide * kSide);
  for (let row = 0; row < kSide; row++) {
    for (let column = 0; column < kSide; column++) {
      const at = [(2 * column) / kSide - 1, (2 * row) / kSide - 1];
      let rgb = background(...at);
      for (const shape of clutter) rgb = over(rgb, shape, at, softness);
      rgb = over(rgb, { place, shape, fill: foreground }, at, softness);
      const shade = at[0] * Math.cos(light.angle) + at[1] * Math.sin(light.angle);
      const gain = light.gain * (1 + light.amount * shade);
      for (let c = 0; c < 3; c++) {
        const value = rgb[c] * gain * tint[c] + noise * (random() + random() - 1);
        pixels[c * kSide * kSide + row * kSide + column] = Math.min(1, Math.max(0, value));
      }
    }
  }
  return { pixels, ...kinds };
}

function placed(between, smallest, largest, apart) {
  const angle = between(0, 2 * Math.PI);
  const radius = between(smallest, largest);
  const stretch = between(0.85, 1.18);
  return {
    x: between(-apart, apart),
    y: between(-apart, apart),
    cos: Math.cos(angle) / radius,
    sin: Math.sin(angle) / radius,
    stretch,
  };
}

function over(rgb, { place, shape, fill }, [x, y], softness) {
  const [dx, dy] = [x - place.x, y - place.y];
  const u = (dx * place.cos + dy * place.sin) * place.stretch;
  const v = (dy * place.cos - dx * place.sin) / place.stretch;
  const cover = Math.min(1, Math.max(0, 0.5 - shape(u, v) / (2 * softness)));
  if (cover === 0) return rgb;
  const own = fill(u, v);
  return rgb.map((value, c) => value + cover * (own[c] - value));
}

// Returns a function from points to colors: a pattern of a color and a lighter or darker one.
function filled(between, color, pattern, contrast = 0.45) {
  const [hue, saturation, lightness] = kColors[color];
  const moved = [hue + between(-11, 11), saturation * between(0.75, 1.1)];
  const base = rgbOf(...moved, lightness * between(0.85, 1.1));
  const other = rgbOf(...moved, lightness > 0.45 ? lightness - contrast : lightness + contrast);
  const scale = between(1.5, 4);
  const shift = [between(0, 1), between(0, 1)];
  const angle = between(0, 3.2);
  const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
  const amount = kPatterns[pattern];
  return (x, y) => {
    const share = amount(x * cos + y * sin + shift[0], y * cos - x * sin + shift[1]);
    return base.map((value, c) => value + share * (other[c] - value));
  };
}

function rgbOf(hue, saturation, lightness) {
  const strength = Math.min(1, saturation) * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((n) => {
    const k = (((n + hue / 30) % 12) + 12) % 12;
    return lightness - strength * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

function fraction(x) {
  return x - Math.floor(x);
}

function wave(x) {
  return fraction(x) < 0.5 ? 0 : 1;
}
