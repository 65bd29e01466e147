// The pictures of the three entries, drawn in the colors of the page.

const kSize = 'viewBox="0 0 320 132" aria-hidden="true" focusable="false"';

/** Drawings by the name of the entry. */
export const kDrawings = { learn: learn(), demos: demos(), docs: docs() };

// A graph: values go forward in blue, gradients come back in orange.
function learn() {
  const nodes = [
    [40, 36, "w"],
    [40, 96, "x"],
    [130, 66, "×"],
    [210, 66, "+"],
    [284, 66, "L"],
  ];
  const edges = [
    [0, 2],
    [1, 2],
    [2, 3],
    [3, 4],
  ];
  const lines = edges.map(([from, to]) => {
    const [[x1, y1], [x2, y2]] = [nodes[from], nodes[to]];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const length = Math.hypot(dx, dy);
    const [nx, ny] = [(-dy / length) * 4, (dx / length) * 4];
    const path = (side, name) =>
      `<path class="${name}" d="M${round(x1 + side * nx)} ${round(y1 + side * ny)}L${round(x2 + side * nx)} ${round(y2 + side * ny)}"/>`;
    return path(-1, "value") + path(1, "gradient");
  });
  const circles = nodes.map(
    ([x, y, name]) =>
      `<circle cx="${x}" cy="${y}" r="19"/><text x="${x}" y="${y + 6}">${name}</text>`,
  );
  return `<svg class="drawing graph" ${kSize}>${lines.join("")}${circles.join("")}</svg>`;
}

// A digit of pixels, and how likely each class is.
function demos() {
  const rows = ["01110", "10001", "00001", "00110", "00001", "10001", "01110"];
  const pixels = rows.flatMap((row, y) =>
    [...row].flatMap((ink, x) =>
      ink === "1"
        ? `<rect x="${36 + 14 * x}" y="${18 + 14 * y}" width="13" height="13" rx="2"/>`
        : [],
    ),
  );
  const shares = [0.05, 0.04, 0.18, 1, 0.06, 0.24];
  const bars = shares.map((share, i) => {
    const y = 17 + 17 * i;
    const name = share === 1 ? "value" : "rest";
    return `<rect class="${name}" x="160" y="${y}" width="${round(130 * share)}" height="11" rx="3"/>`;
  });
  return `<svg class="drawing digit" ${kSize}>${pixels.join("")}${bars.join("")}</svg>`;
}

// Two pages of text with code.
function docs() {
  const line = (x, y, width, name = "rest") =>
    `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="7" rx="3"/>`;
  const page = (x) => `<rect class="page" x="${x}" y="14" width="120" height="104" rx="8"/>`;
  const parts = [
    page(36),
    line(50, 28, 60, "value"),
    ...[44, 57, 70].map((y, i) => line(50, y, [92, 84, 66][i])),
    line(50, 92, 74, "gradient"),
    page(168),
    ...[30, 44, 58, 72, 86, 100].map((y, i) =>
      line(
        182 + (i % 3 === 0 ? 0 : 12),
        y,
        [70, 58, 76, 88, 50, 64][i],
        ["value", "rest", "gradient"][i % 3],
      ),
    ),
  ];
  return `<svg class="drawing docs" ${kSize}>${parts.join("")}</svg>`;
}

function round(value) {
  return Number(value.toFixed(1));
}
