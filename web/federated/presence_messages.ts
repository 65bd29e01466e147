// The messages by which clients announce themselves, and how often they do. Each is followed by the client's session.

/** The interval at which clients announce themselves. */
export const kPresenceMs = 2000;
/** The message of a client that is present. */
export const kHere = "here";
/** The message of a client that leaves. */
export const kGone = "gone";
