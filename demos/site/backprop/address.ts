// The exact state in the address: the chapter, the numbers and the step, as #neuron?w1=0.5&step=3.

import type { Numbers } from "./inputs_view.js";

/** What an address says. */
export interface Address {
  readonly chapter: string;
  readonly numbers: Numbers;
  readonly step: number;
}

/** Reads an address; leaves out what is missing or not a number. */
export function readAddress(hash: string): Address {
  const [chapter = "", query = ""] = hash.replace(/^#/, "").split("?");
  const given = new URLSearchParams(query);
  const step = Number(given.get("step") ?? 0);
  given.delete("step");
  const numbers = Object.fromEntries(
    [...given].map(([name, text]) => [name, text.split(" ").map(Number)]),
  );
  return { chapter, numbers, step: Number.isInteger(step) && step > 0 ? step : 0 };
}

/** Returns the address of a state. */
export function addressOf({ chapter, numbers, step }: Address): string {
  const query = new URLSearchParams(
    Object.entries(numbers).map(([name, values]) => [name, values.map(short).join(" ")]),
  );
  if (step > 0) query.set("step", String(step));
  const text = query.toString();
  return text === "" ? `#${chapter}` : `#${chapter}?${text}`;
}

/** Returns `first` with the numbers of an address, where these are as many and numbers. */
export function mergeNumbers(first: Numbers, given: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(first).map(([name, values]) => {
      const other = given[name];
      const fits = other?.length === values.length && other.every(Number.isFinite);
      return [name, fits ? other : values];
    }),
  );
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
