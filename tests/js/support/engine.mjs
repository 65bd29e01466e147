// The package as users import it, started.

import * as eg from "edgegrad";

await eg.init();

export { eg };
