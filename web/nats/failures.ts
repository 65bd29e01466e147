// Classifies errors of NATS: transient ones, and conflicts with a process that was faster.

const kWrongSequence = 10071;
const kNoSuchStream = 10059;
const kSubjectsOverlap = 10065;

// The names of NATS's errors for a server that does not answer at the moment. Their classes are in packages that are loaded later.
const kTransient = new Set([
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

/** Whether a stream does not exist yet. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === kNoSuchStream || nameOf(error) === "StreamNotFoundError";
}

/** Whether the subjects of a stream overlap with another one, which may be the same stream that another process has just created. */
export function isOverlap(error: unknown): boolean {
  return codeOf(error) === kSubjectsOverlap;
}

/** Whether an error comes from the connection or the server's present state, so that the call can be retried. */
export function isTransient(error: unknown): boolean {
  if (kTransient.has(nameOf(error))) return true;
  // JetStream's codes for a server that is starting, or has no leader at the moment.
  return [10008, 10009, 10039, 503].includes(codeOf(error) ?? 0) || isOutOfRoom(error);
}

/** Whether the server has no room for more, of a stream or at all. */
export function isOutOfRoom(error: unknown): boolean {
  // JetStream's codes: an account's or the server's resources, its storage, its memory, and a stream that stores no more.
  return [10002, 10023, 10028, 10047, 10077].includes(codeOf(error) ?? 0) && !isFull(error);
}

/** Whether the server stores no more messages of this subject. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === 10077 && (error as Error).message.includes("per subject");
}

/** Whether the server denies this connection a subject. */
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
