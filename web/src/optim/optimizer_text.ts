// The text of optimizers as PyTorch prints it.

import { formatValue } from "../nn/module_text.js";
import { snakeCase } from "../runtime/host/spelling.js";

/** Returns the text of an optimizer: the settings of each group, sorted by their names in Python. */
export function formatOptimizer(name: string, groups: readonly object[]): string {
  const texts = groups.map((group, i) => {
    const settings = Object.entries(group).filter(([key]) => key !== "params");
    const lines = settings.map(([key, value]) => {
      const text = key === "paramNames" ? formatNames(value) : formatValue(value);
      return `    ${snakeCase(key)}: ${text}\n`;
    });
    return `\nParameter Group ${i}\n${lines.sort().join("")}`;
  });
  return `${name} (${texts.join("")})`;
}

// A list of strings, which other settings are not.
function formatNames(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(", ")}]`;
}
