// For runtimes that run scripts: the result goes into a global promise.

import { result } from "./worker.mjs";

globalThis.result = result();
