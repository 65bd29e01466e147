// uPlot formats numbers in the language of the browser and cannot be loaded where that is none, such as "C" without a locale.

/** Makes English the language of a browser that has none; called before uPlot is loaded. */
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
