/**
 * Returns the patterns of a list that match none of the names that the list selects from. Such a pattern is an error: what it referred to
 * has moved or was removed, and otherwise nobody would notice that the list is out of date.
 */
export function idlePatterns(patterns, names, matches = (pattern, name) => pattern.test(name)) {
  return patterns.filter((pattern) => !names.some((name) => matches(pattern, name)));
}

/** Throws an error if there are such patterns; `what` describes the names. */
export function checkPatterns(patterns, names, what) {
  const idle = idlePatterns(patterns, names);
  if (idle.length > 0) throw new Error(`${what}: nothing matches ${idle.join(", ")}`);
}
