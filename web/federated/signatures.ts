// Signatures by nkeys (Ed25519), with which clients and coordinators log in to NATS: of updates by clients, and of the record by the
// coordinator. A signed text begins with its purpose, so that a signature is valid for nothing else.

import { refuse } from "../errors/errors.js";
import type { Credentials } from "../nats/connection.js";
import { loadClientPackages } from "../nats/packages.js";
import { base64Of, bytesOf } from "./secure/bytes.js";

const kSignatureBytes = 64;
const kUserKey = /^U[A-Z2-7]{55}$/;
const kSeedOfCreds = /-----BEGIN USER NKEY SEED-----\s*(SU[A-Z2-7]+)/;

/** Signs a text; returns the signature as Base64. */
export type Sign = (text: string) => string;

/** Whether a public key has signed a text. */
export type Check = (key: string, text: string, signature: string) => boolean;

/** The public keys of clients by name, or a function that returns that of a client, or null for one that may not take part. */
export type ClientKeys =
  | Readonly<Record<string, string>>
  | ((client: string) => string | null | Promise<string | null>);

/** Checks that an option is a user's public nkey. */
export function keyFrom(where: string, option: string, value: unknown): string {
  if (typeof value === "string" && kUserKey.test(value)) return value;
  return refuse(where, option, 'a public nkey of a user, "U..."', value);
}

/** Returns the function that signs with the seed of the credentials; null if they have none. */
export async function signerOf(where: string, credentials: Credentials): Promise<Sign | null> {
  const seed = credentials.nkeySeed ?? kSeedOfCreds.exec(credentials.creds ?? "")?.[1];
  if (seed === undefined) return null;
  const { core } = await loadClientPackages(where);
  const encoder = new TextEncoder();
  const pair = core.nkeys.fromSeed(encoder.encode(seed));
  return (text) => base64Of(pair.sign(encoder.encode(text)));
}

/** Returns the function that checks signatures. */
export async function loadCheck(where: string): Promise<Check> {
  const { core } = await loadClientPackages(where);
  return (key, text, signature) => {
    const bytes = bytesOf(signature, kSignatureBytes);
    if (bytes === null) return false;
    return core.nkeys.fromPublic(key).verify(new TextEncoder().encode(text), bytes);
  };
}

/** What a client signs: a file that it sends in a round. */
export interface SignedUpdate {
  readonly run: string;
  readonly round: string;
  /** The attempt and the step with secure aggregation, otherwise "". */
  readonly phase: string;
  readonly session: string;
  readonly client: string;
  readonly digest: string;
}

/** The text that a client signs for an update. */
export function textOfUpdate(update: SignedUpdate): string {
  const { run, round, phase, session, client, digest } = update;
  return ["edgegrad update", run, round, phase, session, client, digest].join("\n");
}

/** The text that a coordinator signs for the record with a revision. */
export function textOfRecord(run: string, revision: string, digest: string): string {
  return ["edgegrad record", run, revision, digest].join("\n");
}
