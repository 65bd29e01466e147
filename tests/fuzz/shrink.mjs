// Shrinks findings by leaving out lines that are not needed.

/** Returns a signature that is equal for findings with the same cause; for a leak, it contains the last call of the program. */
export function signatureOf({ kind, line, message }) {
  const called = /(?:\beg|v\.t\d+|\])((?:\.\w+)+)\(/.exec(line)?.[1] ?? line.slice(0, 40);
  const text = message
    .replace(/-?\d+(\.\d+)?(e[+-]?\d+)?/g, "N")
    .replace(/N(, ?N)+/g, "N")
    .slice(0, 90);
  if (kind === "leak") return `${kind} ${called}`;
  return kind === "no caller named" ? `${kind} ${text}` : `${kind} ${called} ${text}`;
}

/** Resolves to fewer lines for which `stillFails` holds, trying at most `attempts` programs. */
export async function shrink(lines, stillFails, attempts = 60) {
  let kept = lines;
  for (let i = lines.length - 1; i >= 0 && attempts > 0; i--) {
    // Results are named by line number, so a removed line is replaced by `undefined`.
    const fewer = kept.map((line, k) => (k === i ? { text: "undefined", mayChange: true } : line));
    if (kept[i].text === "undefined") continue;
    attempts--;
    if (await stillFails(fewer)) kept = fewer;
  }
  return kept;
}

/** Returns a program as a person would write it. */
export function textOfProgram(lines) {
  return lines.flatMap(({ text }, i) => {
    if (text === "undefined") return [];
    const plain = text.replace(/\bv\.(t\d+)/g, "$1");
    const isUsed = lines.some((line) => new RegExp(`\\bv\\.t${i}\\b`).test(line.text));
    return [isUsed ? `const t${i} = ${plain};` : `${plain};`];
  });
}
