// Which programs of the docs run in their page: those of the guide without a note, and the examples of the reference.

// Modules of Node, servers, and workers with a file of their own.
const kNotInPages =
  /["']node:|\bprocess\.|nats:\/\/|edgegrad\/distributed|import\.meta|from ["']webgpu["']|require\(/;

const kOwnFile = /from ["']\.\/([\w.]+)["']/g;

/** Marks the programs among the parts of a text; live_buttons.js puts buttons there. */
export function markLive(parts) {
  const files = parts.flatMap(({ text }) => /^```js ([\w.]+\.mjs)\n/.exec(text)?.[1] ?? []);
  for (const part of parts) {
    const [, fence, code] = /^```([^\n]*)\n([\s\S]*)\n?```$/.exec(part.text) ?? [];
    if (part.kind !== "code" || fence === undefined) continue;
    const [language, ...notes] = fence.trim().split(" ");
    const note = notes.join(" ");
    if (language !== "js") continue;
    if (/^[\w.]+\.mjs$/.test(note))
      part.text += `\n\n<i class="live-mark" data-live-file="${note}"></i>\n\n`;
    else if (["", "gpu"].includes(note) && isForPages(code, files))
      part.text += '\n\n<i class="live-mark" data-live></i>\n\n';
  }
}

// A program that can run in a page imports the package, or files of its page, which import it.
function isForPages(code, files) {
  const own = [...code.matchAll(kOwnFile)].map(([, name]) => name);
  if (own.some((name) => !files.includes(name)) || kNotInPages.test(code)) return false;
  return own.length > 0 || /\bimport\b[^;]*["']edgegrad/.test(code);
}
