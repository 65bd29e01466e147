// Parts of Markdown files that are written by a command, delimited by two comments, which are not rendered.

/** Returns the comments around a part. */
function marksOf(name) {
  return [`<!-- ${name}: written by a command -->\n`, `<!-- ${name}: end -->\n`];
}

/** Returns the text between the marks of a part; throws if there are no marks. */
export function markedPart(text, name) {
  const [start, end] = rangeOf(text, name);
  return text.slice(start, end);
}

/** Returns the text with the part between the marks replaced. */
export function withMarkedPart(text, name, part) {
  const [start, end] = rangeOf(text, name);
  return text.slice(0, start) + part + text.slice(end);
}

function rangeOf(text, name) {
  const [first, last] = marksOf(name);
  const start = text.indexOf(first) + first.length;
  const end = text.indexOf(last, start);
  if (start < first.length || end < 0) throw new Error(`The text lacks the marks ${first}${last}`);
  return [start, end];
}
