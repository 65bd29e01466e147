// What a file may cost. A message of two bytes becomes an object of some hundred, so that a small file could fill the memory.

import { fail } from "../errors.js";
import type { MessageName } from "./schema.js";

/** What every file may cost in bytes, and what it may cost for each of its bytes. */
const kFloor = 64 * 2 ** 20;
const kPerByte = 4;

/** About the bytes of an object, with the lists in it and what is made of it. */
const kObject = 96;
const kNode = 384;
/** About the bytes of an entry in a list that grows. */
export const kEntry = 16;
/** About the bytes of a text with what refers to a value of that name. */
export const kText = 64;

/** Counts the memory that the parts of a file take. */
export class Budget {
  #left: number;

  constructor(fileBytes: number) {
    this.#left = kFloor + kPerByte * fileBytes;
  }

  /** Pays for a message without what is in it. */
  message(name: MessageName): void {
    this.spend(name === "Node" ? kNode : kObject);
  }

  /** Pays for this many bytes; throws InvalidArgument if the file cannot have so much in it. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const text = "the file has so many small parts that it would fill the memory.";
    fail("InvalidArgument", "onnx.load", text);
  }
}
