// What clients ask of the coordinator that leads. They reach nothing else: NATS checks whether a client may publish to a subject, but not
// whether it may publish to the reply subject that it names, and JetStream publishes its answers there. So no subject of a client's is one
// that JetStream answers, and the coordinator answers to the client's own inbox only.

/** A request or an answer. */
export interface Sheet {
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Uint8Array;
}

/**
 * What a client asks for: to take part under its name, the record, a piece of an object, to store a part of an update, or what has become
 * of an update.
 */
export type Ask = "join" | "record" | "object" | "part" | "verdict";

/**
 * The answer in a word: done; another process takes part under the client's name; the client is not known by its key; the run does not
 * accept the client's version; the round does not ask for this; the server stores no more of this client; the store is not available at the moment; there is no such thing.
 */
export type Status = "ok" | "taken" | "unknown" | "version" | "over" | "full" | "busy" | "none";

/** What has become of an update; "wait" if the coordinator has not read it yet, "none" if there is none. */
export interface Verdict {
  readonly state: "counted" | "refused" | "wait" | "none";
  /** Why it was refused, as a word and as a sentence. */
  readonly reason?: string;
  readonly message?: string;
  /** Whether the client may send another one in this round. */
  readonly again?: boolean;
}

/** The headers of requests and answers. */
export const kAskHeader = "EdgeGrad-Ask";
export const kStatusHeader = "EdgeGrad-Status";
export const kSessionHeader = "EdgeGrad-Session";
export const kSignatureHeader = "EdgeGrad-Signature";
export const kRevisionHeader = "EdgeGrad-Revision";
export const kObjectHeader = "EdgeGrad-Object";
export const kOffsetHeader = "EdgeGrad-Offset";
/** The version of a client or, in an answer, those that the run accepts. */
export const kVersionHeader = "EdgeGrad-Version";

const kNothing = new Uint8Array(0);

/** Returns a request. */
export function askFor(
  ask: Ask,
  headers: Readonly<Record<string, string>> = {},
  data: Uint8Array = kNothing,
): Sheet {
  return { headers: { ...headers, [kAskHeader]: ask }, data };
}

/** Returns an answer. */
export function answerWith(
  status: Status,
  headers: Readonly<Record<string, string>> = {},
  data: Uint8Array = kNothing,
): Sheet {
  return { headers: { ...headers, [kStatusHeader]: status }, data };
}

/** Returns the value of a header; "" if there is none. */
export function headerOf({ headers }: Sheet, name: string): string {
  return Object.hasOwn(headers, name) ? (headers[name] ?? "") : "";
}

/** Returns the status of an answer. */
export const statusOf = (answer: Sheet) => headerOf(answer, kStatusHeader) as Status;
