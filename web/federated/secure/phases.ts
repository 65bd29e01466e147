// The steps of a secure round, and the header that names them in messages.

/** The steps of a secure round, in their order. */
export const kPhases = ["keys", "shares", "masked", "unmask"] as const;

/** A step of a secure round. */
export type Phase = (typeof kPhases)[number];

/** The header that names the attempt and the step of a message. */
export const kPhaseHeader = "EdgeGrad-Phase";

/** Returns the value of the header. */
export const phaseHeader = (attempt: number, phase: Phase) => `${attempt} ${phase}`;
