// uPlot formats numbers in the language of the browser, and cannot be loaded if that is invalid, such as "C" without a locale.

/** Sets English as the language of a browser with an invalid one; called before uPlot is loaded. */
export function ensureLanguage(): void {
  if (!isLanguage(navigator.language))
    Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}
