// One of the workers. It shares the engine's memory, so it trains the same weights as the others.

import * as eg from "edgegrad";
import { trainShared } from "./model.js";

eg.expose({ train: trainShared });
