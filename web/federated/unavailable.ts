/** Thrown if something cannot be read at the moment: no coordinator answers, or the object has been replaced. */
export class TemporarilyUnavailable extends Error {}
