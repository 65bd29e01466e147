// Parts of Markdown files that a command writes, between two comments that nobody sees.

/** Returns the comments around a part. */
function marksOf(name) {
  return [`<!-- ${name}: written by a command -->\n`, `<!-- ${name}: end -->\n`];
}

/** Returns what stands between the marks of a part; throws where it has none. */
export function markedPart(text, name) {
  const [start, end] = placeOf(text, name);
  return text.slice(start, end);
}

/** Returns the text with another part between the marks. */
export function withMarkedPart(text, name, part) {
  const [start, end] = placeOf(text, name);
  return text.slice(0, start) + part + text.slice(end);
}

function placeOf(text, name) {
  const [first, last] = marksOf(name);
  const start = text.indexOf(first) + first.length;
  const end = text.indexOf(last, start);
  if (start < first.length || end < 0) throw new Error(`There are no marks ${first}${last}`);
  return [start, end];
}
