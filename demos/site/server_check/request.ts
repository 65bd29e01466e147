// Requests an address, and reports what a page may see of the answer.

/** What came, as far as the browser shows it. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly isSameOrigin: boolean;
  readonly bytes: Uint8Array;
  /** The size on the network, if the browser tells. */
  readonly sent: number | null;
  /** A header; null if the server sends none, or if it is hidden from other origins. */
  header(name: string): string | null;
}

/** Why there is no answer. */
export class Unanswered extends Error {}

/** Requests an address from the server itself, not from a cache; throws Unanswered if there is nothing to see. */
export async function request(url: URL): Promise<Answer> {
  // The service worker of this site lets requests with this mode pass.
  const response = await fetch(url, { cache: "no-store" }).catch(async () => {
    throw new Unanswered(await reasonFor(url));
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const final = new URL(response.url);
  return {
    url: final,
    status: response.status,
    isSameOrigin: final.origin === location.origin,
    bytes,
    sent: sentBytes(url),
    header: (name) => response.headers.get(name),
  };
}

// Other origins see sizes only if the server sends Timing-Allow-Origin.
function sentBytes(url: URL): number | null {
  const entries = performance.getEntriesByName(url.href) as PerformanceResourceTiming[];
  const size = entries.at(-1)?.encodedBodySize ?? 0;
  return size > 0 ? size : null;
}

// Browsers do not say why a request failed. A request whose answer stays unread distinguishes some of the reasons.
async function reasonFor(url: URL): Promise<string> {
  if (url.origin === location.origin) return "This site's server did not answer.";
  const answers = await fetch(url, { cache: "no-store", mode: "no-cors" }).then(
    () => true,
    () => false,
  );
  if (answers)
    return (
      "The server answers, but does not allow this page to read the answer: it sends no Access-Control-Allow-Origin " +
      "for other origins. That is usual, and no mistake if the file is only loaded by pages of the same origin."
    );
  return (
    "There is no answer that this page may see. Either the server cannot be reached, or it does not allow other origins " +
    "to read its answers (no Access-Control-Allow-Origin); browsers do not say which."
  );
}
