// The messages by which clients announce themselves between updates, and how often they do.

/** The interval at which clients announce themselves. */
export const kPresenceMs = 2000;
/** The message of a client that leaves. */
export const kGone = "gone";
/** The message of a client that has sent an update. */
export const kSent = "sent";
