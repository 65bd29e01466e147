// The package as users import it, with the engine started.

import * as eg from "edgegrad";
import { seedFromEnvironment } from "./seed.mjs";

await eg.init();
seedFromEnvironment(eg);

export { eg };
