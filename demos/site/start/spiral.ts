// The points of example.js, which the page shows before the engine is there.

import type { Points } from "../shared/plane_view.js";

const kPoints = 100;

/** The two arms of the spiral. */
export function spiral(): Points {
  const positions = new Float32Array(4 * kPoints);
  const classes = new Float32Array(2 * kPoints).fill(1, 0, kPoints);
  for (let i = 0; i < kPoints; i++) {
    const along = 0.05 + (0.9 * i) / (kPoints - 1);
    const angle = along * 3.5 * Math.PI;
    const [x, y] = [along * Math.sin(angle), along * Math.cos(angle)];
    positions.set([x, y], 2 * i);
    positions.set([-x, -y], 2 * (kPoints + i));
  }
  return { positions, classes };
}
