// Names in state dicts are PyTorch's: settings in snake_case.

/** Returns PyTorch's spelling of a setting. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the name that PyTorch's spelling of a setting has here. */
export function camelCase(name: string): string {
  return name.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
