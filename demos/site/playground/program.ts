// What visitors take home: the network of the present settings, and a page that shows the plane.

import type { Program } from "../shared/take_home/program.js";
import { kFeatures, type Settings } from "./settings.js";
import script from "./take_home_page.js?raw";

const kBody = `<p>The color of each point of the plane is what the network says of it.</p>
<canvas id="plane" width="420" height="420"></canvas>
<p><output id="said">Point at the plane.</output></p>`;

/** The program of a network. */
export function programOf(settings: Settings): Program {
  return {
    name: "playground",
    title: "A network that divides the plane",
    model: modelOf(settings),
    page: { body: kBody, script },
    types: { input: "[x: number, y: number][]", output: "number[]" },
  };
}

function modelOf({ features, hidden, activation }: Settings): string {
  const sizes = [features.length, ...hidden, 1];
  const layers = sizes.slice(1).map((size, i) => {
    const linear = `new nn.Linear(${sizes[i]}, ${size}),`;
    return i === hidden.length ? linear : `${linear} new nn.${activation}(),`;
  });
  const used = features.map((name) => `  ${String(kFeatures[name])}, // ${name}`);
  return `import * as eg from "edgegrad";

// What the network gets of a point; both coordinates are from -1 to 1.
const kFeatures = [
${used.join("\n")}
];

/** A network with new weights: maps features [count, ${features.length}] to [count, 1], positive for one class. */
export function makeModel() {
  const { nn } = eg;
  return new nn.Sequential(
    ${layers.join("\n    ")}
  );
}

/** How likely each of the points [x, y] is of the first class. */
export function predict(model, points) {
  return eg.scope(() =>
    eg.noGrad(() => {
      const rows = points.map(([x, y]) => kFeatures.map((feature) => feature(x, y)));
      return Array.from(model.call(eg.tensor(rows)).sigmoid().flatten().dataSync());
    }),
  );
}
`;
}
