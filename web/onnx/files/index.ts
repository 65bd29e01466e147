// What is loaded for a model that is read in parts.

export { blobFile, nodeFile } from "./open.js";
export { readInParts } from "./read.js";
