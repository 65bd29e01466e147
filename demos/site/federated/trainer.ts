// The worker of the page.

import { expose } from "comlink";
import { Federation } from "./federation.js";

expose(new Federation());
