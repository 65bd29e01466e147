// A link to the page that holds a state: settings, and small weights.

const kKey = "take=";

/** The address of this page with a state, which is written as JSON; bytes may be in it. */
export function linkTo(state: unknown): string {
  const text = JSON.stringify(state, (_, value) =>
    value instanceof Uint8Array ? { bytes: base64Of(value) } : value,
  );
  const own = location.href.split("#")[0];
  return `${own}#${kKey}${base64Of(new TextEncoder().encode(text))}`;
}

/** The state in this page's address; null if there is none, or it is damaged. */
export function stateOfLink(): unknown {
  const given = location.hash.slice(1);
  if (!given.startsWith(kKey)) return null;
  try {
    const text = new TextDecoder().decode(bytesOf(given.slice(kKey.length)));
    return JSON.parse(text, (_, value) => {
      const bytes = (value as { bytes?: unknown } | null)?.bytes;
      return typeof bytes === "string" ? bytesOf(bytes) : value;
    });
  } catch (error) {
    console.warn("This address has a state that cannot be read:", error);
    return null;
  }
}

/** Bytes as text that may be in an address. */
export function base64Of(bytes: Uint8Array): string {
  // A part at a time: a call has a limited number of arguments.
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(text: string): Uint8Array {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (sign) => sign.charCodeAt(0));
}
