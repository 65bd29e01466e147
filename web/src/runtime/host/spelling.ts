// State dicts and the engine's ops use PyTorch's names, which are in snake_case.

/** Returns a camelCase name in snake_case. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a snake_case name in camelCase. */
export function camelCase(name: string): string {
  return name.replace(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
