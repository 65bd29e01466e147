// Failures of NATS: those that pass when the server is back, and those that tell that another coordinator was faster.

const kWrongSequence = 10071;
const kNoSuchStream = 10059;
const kSubjectsOverlap = 10065;

// The names of NATS's errors about a server that does not answer now. The classes themselves are in packages that are loaded later.
const kPassing = new Set([
  "TimeoutError",
  "NoRespondersError",
  "RequestError",
  "ConnectionError",
  "ClosedConnectionError",
  "DisconnectedError",
  "JetStreamNotEnabled",
  "JetStreamStatusError",
]);

/** Whether a write was refused because the key or subject has changed since it was read. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === kWrongSequence;
}

/** Whether a stream does not exist (yet). */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === kNoSuchStream || nameOf(error) === "StreamNotFoundError";
}

/** Whether a stream has subjects of another one, which may be the same one that another process has just made. */
export function isOverlap(error: unknown): boolean {
  return codeOf(error) === kSubjectsOverlap;
}

/** Whether something failed because of the connection or the server's state, and can be tried again. */
export function isPassing(error: unknown): boolean {
  if (kPassing.has(nameOf(error))) return true;
  const code = codeOf(error);
  // JetStream's codes of a server that is starting, or has no leader or resources at the moment.
  return [10008, 10009, 10023, 10039, 10077, 503].includes(code ?? 0) && !isFull(error);
}

/** Whether the server keeps no more messages of this subject. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === 10077;
}

/** Whether the server forbids this connection a subject. */
export function isForbidden(error: unknown): boolean {
  if (nameOf(error) === "PermissionViolationError") return true;
  return error instanceof Error && error.cause !== undefined && isForbidden(error.cause);
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "number" ? code : undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}
