// Warnings that are shown once, unless eg.setWarnAlways(true).

/** Whether a warning has been shown. */
export interface Once {
  done: boolean;
}

const setting = { always: false };

/** Sets whether isDue() is true each time. */
export function repeatWarnings(always: boolean): void {
  setting.always = always;
}

/** Returns whether a warning is to be shown now, and notes that it is. */
export function isDue(once: Once): boolean {
  if (once.done && !setting.always) return false;
  once.done = true;
  return true;
}
