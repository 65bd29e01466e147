// Separated values (RFC 4180). A field in quotes may contain separators, line ends and doubled quotes.

import { fail } from "../../errors/errors.js";

/** Returns the rows of a table by the names in its first line; empty lines are skipped. Every value is a string. */
export function parseCsv(where: string, text: string, separator: string): Record<string, string>[] {
  const [names, ...rows] = fieldsOf(where, text, separator);
  if (names === undefined) fail("InvalidArgument", where, "the file has no line with names.");
  const { fields: header } = names;
  const twice = header.find((name, i) => header.indexOf(name) !== i);
  if (twice !== undefined) {
    fail("InvalidArgument", where, `two columns have the name ${JSON.stringify(twice)}.`);
  }
  return rows.map(({ fields, line }) => {
    if (fields.length !== header.length) {
      const message = `line ${line} has ${fields.length} fields, and the first ${header.length}.`;
      fail("InvalidArgument", where, message);
    }
    return Object.fromEntries(header.map((name, i) => [name, fields[i] as string]));
  });
}

interface Row {
  readonly fields: readonly string[];
  /** The line on which the row begins, from 1. */
  readonly line: number;
}

const kBreak = /\r\n|\r|\n/g;

function fieldsOf(where: string, text: string, separator: string): Row[] {
  const plain = new RegExp(`[^\r\n${separator}]*`, "y");
  const rows: Row[] = [];
  let [at, line] = [0, 1];
  const plainField = () => {
    plain.lastIndex = at;
    const [found] = plain.exec(text) as unknown as [string];
    at += found.length;
    return found;
  };
  const quotedField = () => {
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end < 0) fail("InvalidArgument", where, `line ${line}: a quote does not end.`);
    const found = text.slice(at + 1, end).replaceAll('""', '"');
    at = end + 1;
    line += found.match(kBreak)?.length ?? 0;
    return found;
  };
  while (at < text.length) {
    const start = line;
    const fields: string[] = [];
    do {
      fields.push(text[at] === '"' ? quotedField() : plainField());
    } while (text[at] === separator && ++at);
    if (at < text.length && text[at] !== "\r" && text[at] !== "\n") {
      fail("InvalidArgument", where, `line ${line}: there is text after the end of a quote.`);
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    line++;
    if (fields.length > 1 || fields[0] !== "") rows.push({ fields, line: start });
  }
  return rows;
}
