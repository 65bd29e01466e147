// What a page shows again after a reload, in the storage of its tab. In a browser that is configured to store nothing, it is lost.

/** Keeps a value, which is written as JSON. */
export function keepForReload(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch (error) {
    console.warn(error);
  }
}

/** The value that was kept; null if there is none. */
export function keptForReload<T>(name: string): T | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null") as T | null;
  } catch {
    return null;
  }
}
