// Parts of Markdown files that are written by a command, between two comments, which are not rendered.

/** Returns the text before the part of that name, the part, and the text after it; throws if there are no marks. */
function around(text, name) {
  const marks = `^(.*<!-- ${name}: written by a command -->\n)(.*)(<!-- ${name}: end -->\n.*)$`;
  const found = new RegExp(marks, "s").exec(text);
  if (found === null) throw new Error(`The text lacks the marks of "${name}"`);
  return found.slice(1);
}

/** Returns the text between the marks of a part. */
export const markedPart = (text, name) => around(text, name)[1];

/** Returns the text with the part between the marks replaced. */
export function withMarkedPart(text, name, part) {
  const [before, , after] = around(text, name);
  return before + part + after;
}
