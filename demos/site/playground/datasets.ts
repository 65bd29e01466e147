// Points of two classes in the plane from -1 to 1.

import type { Points } from "../shared/plane_view.js";
import type { Settings } from "./settings.js";

type Labeled = readonly [x: number, y: number, isPositive: boolean];

const kPoints = 200;

const kMakers: Record<Settings["dataset"], (i: number) => Labeled> = {
  spiral: (i) => {
    const along = Math.floor(i / 2) / (kPoints / 2);
    const angle = along * 3.5 * Math.PI + (i % 2) * Math.PI;
    return [0.9 * along * Math.sin(angle), 0.9 * along * Math.cos(angle), i % 2 === 0];
  },
  circle: (i) => {
    const isInside = i % 2 === 0;
    const radius = isInside ? uniform(0, 0.4) : uniform(0.6, 0.85);
    const angle = uniform(0, 2 * Math.PI);
    return [radius * Math.cos(angle), radius * Math.sin(angle), isInside];
  },
  xor: () => {
    const side = () => Math.sign(uniform(-1, 1)) * uniform(0.06, 0.9);
    const [x, y] = [side(), side()];
    return [x, y, x * y > 0];
  },
  gauss: (i) => {
    const center = i % 2 === 0 ? 0.4 : -0.4;
    return [center + 0.15 * normal(), center + 0.15 * normal(), i % 2 === 0];
  },
};

/** Random points; `noise` moves each by up to that fraction of half the plane. */
export function makePoints({ dataset, noise }: Pick<Settings, "dataset" | "noise">): Points {
  const positions = new Float32Array(2 * kPoints);
  const classes = new Float32Array(kPoints);
  for (let i = 0; i < kPoints; i++) {
    const [x, y, isPositive] = kMakers[dataset](i);
    positions.set([x + noise * uniform(-0.5, 0.5), y + noise * uniform(-0.5, 0.5)], 2 * i);
    classes[i] = Number(isPositive);
  }
  return { positions, classes };
}

function uniform(low: number, high: number): number {
  return low + (high - low) * Math.random();
}

function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
