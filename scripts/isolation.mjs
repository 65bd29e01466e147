/** The headers that a page needs to use threads (cross-origin isolation). */
export const kIsolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
