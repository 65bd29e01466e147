// Files that a visitor saves and opens.

/** Offers bytes as a download. */
export function download(name: string, bytes: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // By then the download has started.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Calls `open` with the bytes and the name of a file chosen in a (hidden) input, when `button` is pressed. */
export function onFile(
  button: HTMLButtonElement,
  input: HTMLInputElement,
  open: (bytes: Uint8Array, name: string) => void,
): void {
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (file === undefined) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    // Allows the same file to be chosen again.
    input.value = "";
    open(bytes, file.name);
  });
}
