// Decides which modules an adapter applies to.

import { fail } from "../errors/errors.js";
import type { LoraConfig } from "./config.js";

/** Whether a name equals one of `wanted` or ends with "." and one of them; a string is a regular expression for the whole name. */
export function isNamed(name: string, wanted: readonly string[] | string | null): boolean {
  if (wanted === null) return false;
  if (typeof wanted === "string") return new RegExp(`^(?:${pattern(wanted)})$`).test(name);
  return wanted.some((ending) => name === ending || name.endsWith(`.${ending}`));
}

/** Returns the value of the first pattern that matches the end of a name. */
export function valueFor(
  name: string,
  patterns: Readonly<Record<string, number>>,
  fallback: number,
): number {
  const key = Object.keys(patterns).find((key) =>
    new RegExp(`^(?:.*\\.)?(?:${pattern(key)})$`).test(name),
  );
  return key === undefined ? fallback : (patterns[key] as number);
}

/** Whether a module is in one of the blocks that the config names. */
export function isInLayers(name: string, config: LoraConfig): boolean {
  const { layersToTransform, layersPattern } = config;
  if (layersToTransform === null) return true;
  const lists = [layersPattern ?? []].flat();
  const list = lists.length === 0 ? "[^.]*" : lists.map(pattern).join("|");
  const found = new RegExp(`^(?:.*\\.)?(?:${list})\\.(\\d+)(?:\\.|$)`).exec(name);
  return found !== null && [layersToTransform].flat().includes(Number(found[1]));
}

function pattern(text: string): string {
  try {
    new RegExp(text);
  } catch {
    fail("InvalidArgument", "LoraConfig", `"${text}" is not a regular expression.`);
  }
  return text;
}
