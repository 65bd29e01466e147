// A picture of curves as an SVG file.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const [kWidth, kHeight, kLeft, kTop, kRight, kBottom] = [720, 400, 56, 40, 24, 48];
const kColors = ["#1f6feb", "#d9480f", "#2b8a3e", "#862e9c"];
const kLines = 5;

const escaped = (text) => text.replace(/[&<>]/g, (one) => `&#${one.codePointAt(0)};`);

/** Writes lines of points [x, y] by name, with y from `least` to 1. */
export function drawCurves(file, { title, x: xLabel, y: yLabel, least = 0, curves }) {
  const all = Object.values(curves).flat();
  const last = Math.max(...all.map(([x]) => x));
  const across = (x) => kLeft + (x / last) * (kWidth - kLeft - kRight);
  const up = (y) => kHeight - kBottom - ((y - least) / (1 - least)) * (kHeight - kTop - kBottom);
  const text = (x, y, content, anchor = "middle") =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`;
  const parts = [text(kWidth / 2, 22, title), text(kWidth / 2, kHeight - 10, xLabel)];
  for (let i = 0; i <= kLines; i++) {
    const y = least + (i * (1 - least)) / kLines;
    const at = `x1="${kLeft}" x2="${kWidth - kRight}" y1="${up(y)}" y2="${up(y)}"`;
    parts.push(`<line ${at} stroke="#ddd"/>`, text(kLeft - 6, up(y) + 4, y.toFixed(2), "end"));
    const x = Math.round((i * last) / kLines);
    parts.push(text(across(x), kHeight - kBottom + 18, `${x}`));
  }
  for (const [i, [name, points]] of Object.entries(curves).entries()) {
    const color = kColors[i % kColors.length];
    const path = points.map(
      ([x, y]) => `${across(x).toFixed(1)},${up(Math.max(y, least)).toFixed(1)}`,
    );
    parts.push(
      `<polyline points="${path.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
    );
    const y = kHeight - kBottom - 14 - 18 * i;
    parts.push(
      `<g fill="${color}">${text(kWidth - kRight - 8, y, `${name}: ${yLabel} ${points.at(-1)[1].toFixed(3)}`, "end")}</g>`,
    );
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${kWidth} ${kHeight}" font-family="sans-serif" font-size="13">`;
  const background = `<rect width="${kWidth}" height="${kHeight}" fill="#fff"/>`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${head}\n${[background, ...parts].join("\n")}\n</svg>\n`);
}
