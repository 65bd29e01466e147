// Limits the memory that a file may need. A message of two bytes becomes an object of about a hundred, so a small file could fill the
// memory.

import { fail } from "../../errors/errors.js";
import type { MessageName } from "./schema.js";

/** The bytes that every file may need, and the bytes that it may need for each of its bytes. */
const kFloor = 64 * 2 ** 20;
const kPerByte = 4;

/** The approximate bytes of an object with its lists and what is derived from it. */
const kObject = 96;
const kNode = 384;
/** The approximate bytes of an entry in a growing list. */
export const kEntry = 16;
/** The approximate bytes of a string and of the references to a value of that name. */
export const kText = 64;

/** Counts the memory that the parts of a file need. */
export class Budget {
  #left: number;

  constructor(fileBytes: number) {
    this.#left = kFloor + kPerByte * fileBytes;
  }

  /** Counts a message without its contents. */
  message(name: MessageName): void {
    this.spend(name === "Node" ? kNode : kObject);
  }

  /** Counts this many bytes; throws InvalidArgument if the total exceeds the limit. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const text = "the file has so many small parts that it would fill the memory.";
    fail("InvalidArgument", "onnx.load", text);
  }
}
