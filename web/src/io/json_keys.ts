// JSON.parse() keeps the last of two equal keys and says nothing. A file whose header names a tensor
// twice means different things to different readers, so such headers are refused.

/** Returns a key that an object of valid JSON `text` has twice, or null. */
export function findDuplicateKey(text: string): string | null {
  // One set of keys per open object, null per open array.
  const open: (Set<string> | null)[] = [];
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key: string = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const keys = open[open.length - 1];
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}
