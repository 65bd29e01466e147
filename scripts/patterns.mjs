/**
 * Returns those of a list's patterns that match none of the names from which the list selects. Such a pattern is an error: what it
 * meant has moved or is gone, and nothing would tell that the list no longer says what it seems to say.
 */
export function idlePatterns(patterns, names, matches = (pattern, name) => pattern.test(name)) {
  return patterns.filter((pattern) => !names.some((name) => matches(pattern, name)));
}

/** Throws an error if there are such patterns; `what` is that from which the list selects. */
export function checkPatterns(patterns, names, what) {
  const idle = idlePatterns(patterns, names);
  if (idle.length > 0) throw new Error(`${what}: nothing matches ${idle.join(", ")}`);
}
