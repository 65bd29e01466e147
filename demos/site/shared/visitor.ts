// Whether somebody is there: what is large and not needed to look at a page is loaded only then.

const kSigns = ["pointermove", "pointerdown", "touchstart", "wheel", "keydown"] as const;

// Without a sign for so long, they read.
const kReadingMs = 10_000;

let seen: Promise<void> | null = null;

/** Resolves when somebody is there for sure, or has had the page open for ten seconds. */
export async function visitorIsHereOrReads(): Promise<void> {
  await Promise.race([visitorIsHere(), new Promise((resolve) => setTimeout(resolve, kReadingMs))]);
}

/** Resolves when the visitor first moves the pointer, touches the screen, scrolls or presses a key. */
export function visitorIsHere(): Promise<void> {
  seen ??= new Promise((resolve) => {
    const notice = () => {
      for (const sign of kSigns) removeEventListener(sign, notice, { capture: true });
      resolve();
    };
    for (const sign of kSigns) addEventListener(sign, notice, { capture: true, passive: true });
  });
  return seen;
}
