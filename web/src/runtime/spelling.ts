// Names in state dicts, and of ops in the engine, are PyTorch's: snake_case.

/** Returns PyTorch's spelling of a name. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the name that PyTorch's spelling has here. */
export function camelCase(name: string): string {
  return name.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
