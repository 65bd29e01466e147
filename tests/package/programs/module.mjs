// Trains and prints its losses.

import * as eg from "edgegrad";
import { train } from "./train.js";

await eg.init();
console.log(JSON.stringify({ losses: train(), runtime: eg.runtime() }));
