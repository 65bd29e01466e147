// Scales a drawing like MNIST's digits: its longer side has 20 pixels, and its center of mass is in the middle of 28 x 28 pixels.

import { kPixels, kSide } from "./digits.js";

const kDrawnSide = 20;

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Converts the ink (0 to 255) of a square drawing to an image of 28 x 28 pixels; null if there is no ink. */
export function centered(ink: Uint8Array, side: number): Uint8Array | null {
  const box = boxOf(ink, side);
  if (box === null) return null;
  const scale = Math.max(box.right - box.left, box.bottom - box.top) / kDrawnSide;
  const [x, y] = centerOf(ink, side);
  const image = new Uint8Array(kPixels);
  for (let i = 0; i < kPixels; i++) {
    const left = x + ((i % kSide) - kSide / 2) * scale;
    const top = y + (Math.floor(i / kSide) - kSide / 2) * scale;
    image[i] = meanInk(ink, side, left, top, scale);
  }
  return image;
}

function boxOf(ink: Uint8Array, side: number): Box | null {
  const box = { left: side, top: side, right: 0, bottom: 0 };
  ink.forEach((value, i) => {
    if (value === 0) return;
    const [x, y] = [i % side, Math.floor(i / side)];
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x + 1);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y + 1);
  });
  return box.right === 0 ? null : box;
}

function centerOf(ink: Uint8Array, side: number): [number, number] {
  let [sum, x, y] = [0, 0, 0];
  ink.forEach((value, i) => {
    sum += value;
    x += value * ((i % side) + 0.5);
    y += value * (Math.floor(i / side) + 0.5);
  });
  return [x / sum, y / sum];
}

// The mean over a square of the drawing, which may extend beyond the drawing.
function meanInk(ink: Uint8Array, side: number, left: number, top: number, size: number): number {
  const start = (from: number) => Math.max(0, Math.round(from));
  const end = (from: number) => Math.min(side, Math.round(from + size));
  let sum = 0;
  for (let y = start(top); y < end(top); y++) {
    for (let x = start(left); x < end(left); x++) sum += ink[y * side + x] as number;
  }
  return Math.min(255, Math.round(sum / Math.max(1, size * size)));
}
