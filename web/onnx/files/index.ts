// The code that is loaded for a model that is read in parts, and for inspect().

export { describe } from "./describe.js";
export { blobFile, nodeFile } from "./open.js";
export { readInParts } from "./read.js";
