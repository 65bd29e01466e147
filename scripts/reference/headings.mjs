// The headings of a page of the reference: typedoc chooses their levels by size, and skips some.

/** Returns a page in which no heading skips a level; those that move keep their looks by a class, "level-4". */
export function withoutSkips(page) {
  const open = [];
  let level = 1;
  return page.replaceAll(/<(\/?)h([1-6])\b([^>]*)>/g, (_, end, digit, attributes) => {
    if (end) return `</h${level}>`;
    const own = Number(digit);
    while (open.length > 0 && open.at(-1) >= own) open.pop();
    open.push(own);
    level = open.length;
    return level === own
      ? `<h${own}${attributes}>`
      : `<h${level}${withClass(attributes, `level-${own}`)}>`;
  });
}

function withClass(attributes, name) {
  return / class="/.test(attributes)
    ? attributes.replace(' class="', ` class="${name} `)
    : `${attributes} class="${name}"`;
}
