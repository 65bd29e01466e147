// Which programs of the docs run in their page: those of the guide without a note, and the examples of the reference.

// Modules of Node, servers, and workers with a file of their own.
const kNotInPages =
  /["']node:|\bprocess\.|nats:\/\/|edgegrad\/distributed|import\.meta|["']webgpu["']|require\(/;

/** Marks the programs among the parts of a text; live_buttons.js puts buttons there. */
export function markLive(parts) {
  for (const part of parts) {
    const [, fence, code] = /^```([^\n]*)\n([\s\S]*)\n?```$/.exec(part.text) ?? [];
    if (part.kind !== "code" || fence === undefined) continue;
    const [language, ...notes] = fence.trim().split(" ");
    const note = notes.join(" ");
    if (language !== "js") continue;
    if (/^[\w.]+\.mjs$/.test(note))
      part.text += `\n\n<i class="live-mark" data-live-file="${note}"></i>\n\n`;
    else if (["", "gpu"].includes(note) && isForPages(code))
      part.text += '\n\n<i class="live-mark" data-live></i>\n\n';
  }
}

function isForPages(code) {
  return /\bimport\b[^;]*["']edgegrad/.test(code) && !kNotInPages.test(code);
}
