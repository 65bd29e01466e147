/** The version of the package; a test compares it with package.json. */
export const kVersion = "0.1.0";
