// Code in the address of a page: deflated, in the letters of base64url.

/** Returns the text for an address. */
export async function packed(code: string): Promise<string> {
  const bytes = await through(new Blob([code]), new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the code of a text from an address. */
export async function unpacked(text: string): Promise<string> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return new TextDecoder().decode(
    await through(new Blob([bytes]), new DecompressionStream("deflate-raw")),
  );
}

async function through(
  blob: Blob,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = new Response(blob.stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}
