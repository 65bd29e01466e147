// Whether the visitor sees the page.

/** Calls `changed` now and whenever the page is hidden or shown again. */
export function watchVisibility(changed: (isHidden: boolean) => void): void {
  const tell = () => changed(document.hidden);
  document.addEventListener("visibilitychange", tell);
  tell();
}

/** Resolves when the page has been drawn and is not hidden. */
export async function whenSeen(): Promise<void> {
  // Browsers call this only for a page that is seen, and the second time after it was drawn.
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}
