// The purposes that keys are derived for, so that no key is used twice.

/** One attempt at a round of a run. */
export interface Session {
  readonly run: string;
  readonly round: number;
  readonly attempt: number;
}

const of = ({ run, round, attempt }: Session) => `${run} ${round} ${attempt}`;

/** The purpose of the key by which one client encrypts shares to another. */
export const boxPurpose = (session: Session, from: string, to: string) =>
  `shares ${of(session)} ${from} ${to}`;

/** The purpose of the mask that two clients share. */
export const pairPurpose = (session: Session) => `pair ${of(session)}`;

/** The purpose of a client's own mask. */
export const ownPurpose = (session: Session) => `own ${of(session)}`;

/** The sign with which a client adds the mask that it shares with another, so that the masks cancel out. */
export const signOf = (client: string, other: string) => (client < other ? 1 : -1);
