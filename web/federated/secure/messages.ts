// The messages of a secure round, as JSON. Neither side trusts what it reads: each function that reads a message checks it completely, and
// returns null if it is invalid.

import { isName } from "../../nats/names.js";
import { isPlain } from "../../nats/options.js";
import { kKeyBytes } from "./agreement.js";
import { base64Of, bytesOf } from "./bytes.js";

/** The public keys of a client: `box` for shares that are encrypted to it, `mask` for masks. */
export interface OpenKeys {
  readonly box: Uint8Array;
  readonly mask: Uint8Array;
}

/** A client of a round that has sent its keys. */
export interface Peer extends OpenKeys {
  readonly client: string;
}

/** The clients of a round with keys, in the order of their names. */
export interface Peers {
  /** The number of shares that reconstruct a secret. */
  readonly threshold: number;
  readonly peers: readonly Peer[];
}

/** What a client sends to the others, one entry for each peer. */
export interface Shares {
  /** The digest of the seed of its own mask. */
  readonly commitment: Uint8Array;
  /** The shares, encrypted to their owners. */
  readonly boxes: readonly Uint8Array[];
  /** The digests of the shares of the seed, and of those of the private key for masks. */
  readonly seeds: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

/** The shares that a client has sent. */
export interface SharesOf extends Shares {
  readonly client: string;
}

/** The size of a share in bytes, and of two encrypted shares. */
export const kShareBytes = kKeyBytes;
export const kBoxBytes = 2 * kShareBytes + 16;

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isPlain(value) ? value : {};
  } catch {
    return {};
  }
}

function readList<T>(
  list: unknown,
  count: number | null,
  read: (item: unknown) => T | null,
): T[] | null {
  if (!Array.isArray(list) || (count !== null && list.length !== count)) return null;
  const found = list.map(read);
  return found.some((item) => item === null) ? null : (found as T[]);
}

const bytesList = (list: unknown, count: number, length: number) =>
  readList(list, count, (item) => bytesOf(item, length));

/** Writes the message of the step "keys". */
export function encodeKeys({ box, mask }: OpenKeys): Uint8Array {
  return encode(textOfKeys({ box, mask }));
}

/** Reads the message of the step "keys". */
export function decodeKeys(bytes: Uint8Array): OpenKeys | null {
  return keysFrom(parse(bytes));
}

const textOfKeys = ({ box, mask }: OpenKeys) => ({ box: base64Of(box), mask: base64Of(mask) });

function keysFrom(value: Readonly<Record<string, unknown>>): OpenKeys | null {
  const box = bytesOf(value.box, kKeyBytes);
  const mask = bytesOf(value.mask, kKeyBytes);
  return box === null || mask === null ? null : { box, mask };
}

/** Writes the keys of all clients. */
export function encodePeers({ threshold, peers }: Peers): Uint8Array {
  return encode({
    threshold,
    peers: peers.map(({ client, ...keys }) => ({ client, ...textOfKeys(keys) })),
  });
}

/** Reads the keys of all clients. */
export function decodePeers(bytes: Uint8Array): Peers | null {
  const { threshold, peers: list } = parse(bytes);
  const peers = readList(list, null, (item): Peer | null => {
    const client = isPlain(item) ? clientFrom(item) : null;
    const keys = isPlain(item) ? keysFrom(item) : null;
    return client === null || keys === null ? null : { client, ...keys };
  });
  if (peers === null || !Number.isSafeInteger(threshold)) return null;
  return areInOrder(peers) ? { threshold: threshold as number, peers } : null;
}

/** Writes the message of the step "shares". */
export function encodeShares(shares: Shares): Uint8Array {
  return encode(textOfShares(shares));
}

/** Reads the message of the step "shares", of a client among `count` peers. */
export function decodeShares(bytes: Uint8Array, count: number): Shares | null {
  return sharesFrom(parse(bytes), count);
}

function textOfShares({ commitment, boxes, seeds, keys }: Shares) {
  return {
    commitment: base64Of(commitment),
    boxes: boxes.map(base64Of),
    seeds: seeds.map(base64Of),
    keys: keys.map(base64Of),
  };
}

function sharesFrom(value: Readonly<Record<string, unknown>>, count: number): Shares | null {
  const commitment = bytesOf(value.commitment, kKeyBytes);
  const boxes = bytesList(value.boxes, count, kBoxBytes);
  const seeds = bytesList(value.seeds, count, kKeyBytes);
  const keys = bytesList(value.keys, count, kKeyBytes);
  if (commitment === null || boxes === null || seeds === null || keys === null) return null;
  return { commitment, boxes, seeds, keys };
}

/** Writes the shares that all clients have sent. */
export function encodeAllShares(all: readonly SharesOf[]): Uint8Array {
  return encode({
    shares: all.map(({ client, ...shares }) => ({ client, ...textOfShares(shares) })),
  });
}

/** Reads the shares that clients among `count` peers have sent. */
export function decodeAllShares(bytes: Uint8Array, count: number): SharesOf[] | null {
  const all = readList(parse(bytes).shares, null, (item): SharesOf | null => {
    const client = isPlain(item) ? clientFrom(item) : null;
    const shares = isPlain(item) ? sharesFrom(item, count) : null;
    return client === null || shares === null ? null : { client, ...shares };
  });
  return all !== null && areInOrder(all) ? all : null;
}

/** Writes the message of the step "unmask": one share of each client that has sent shares, or null where it could not be read. */
export function encodeUnmask(shares: readonly (Uint8Array | null)[]): Uint8Array {
  return encode({ shares: shares.map((share) => share && base64Of(share)) });
}

/** Reads the message of the step "unmask", with a share of each of `count` clients. */
export function decodeUnmask(bytes: Uint8Array, count: number): (Uint8Array | null)[] | null {
  const { shares } = parse(bytes);
  if (!Array.isArray(shares) || shares.length !== count) return null;
  const read = shares.map((share) => (share === null ? null : bytesOf(share, kShareBytes)));
  return read.every((bytes, i) => bytes !== null || shares[i] === null) ? read : null;
}

function clientFrom({ client }: Readonly<Record<string, unknown>>): string | null {
  return typeof client === "string" && isName(client) ? client : null;
}

/** Whether names are unique and sorted, so that all sides use the same indices. */
function areInOrder(list: readonly { readonly client: string }[]): boolean {
  return list.every(({ client }, i) => i === 0 || (list[i - 1]?.client ?? "") < client);
}
