// The last step of what is published as one script: esbuild, which is fast, leaves a thirtieth more after gzip.

/**
 * Returns the script as { code, map }, smaller. `map` is the source map of what is given, as text, and `url` where the new
 * one will be; both may be left out.
 */
export async function smaller(script, map, url) {
  const { minify } = await import("terser");
  return minify(script, {
    module: true,
    ecma: 2022,
    // Stacks are read (web/src/runtime/own_frames.ts): functions stay what they are.
    compress: { inline: false, reduce_funcs: false },
    sourceMap: map && { content: map, url },
  });
}
