// Whether the visitor sees the page.

/** Calls `changed` now and whenever the page is hidden or shown again. */
export function watchVisibility(changed: (isHidden: boolean) => void): void {
  const tell = () => changed(document.hidden);
  document.addEventListener("visibilitychange", tell);
  tell();
}
