/**
 * The add-ons: entries of the package that import `edgegrad` as a user would. Each is a folder of web/, from which a build writes
 * dist/<name>/index.js and its declarations, and an entry "./<name>" of package.json.
 */
export const kAddons = ["onnx", "peft", "transformers"];
