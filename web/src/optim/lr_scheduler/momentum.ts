// Momentum that changes with the learning rate.

import type { ScheduledGroup } from "./base.js";

/** Sets the momentum of a group, which is the first of its betas with `useBeta1`. */
export function setMomentum(group: ScheduledGroup, useBeta1: boolean, momentum: number): void {
  if (useBeta1) group.betas = [momentum, ...(group.betas ?? []).slice(1)];
  else group.momentum = momentum;
}
