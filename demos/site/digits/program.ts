// What visitors take home: the classifier, and a page to draw on.

import type { Program } from "../shared/take_home/program.js";
import type { ModelName } from "./models.mjs";
import models from "./models.mjs?raw";
import script from "./take_home_page.js?raw";

const kBody = `<p>Draw a digit.</p>
<canvas id="pad" width="280" height="280"></canvas>
<p><button id="clear">Clear</button> <output id="read"></output></p>`;

/** The program of a classifier. */
export function programOf(name: ModelName): Program {
  return {
    name: "digits",
    title: "Handwritten digits",
    model: models.replace('name = "dense"', `name = "${name}"`),
    page: { body: kBody, script },
    types: { input: "Uint8Array", output: "number[]" },
  };
}
