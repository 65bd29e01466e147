// What clients say of themselves between updates, and how often.

/** How often clients say that they are there. */
export const kPresenceMs = 2000;
/** What a client says that leaves. */
export const kGone = "gone";
/** What a client says that has sent an update. */
export const kSent = "sent";
