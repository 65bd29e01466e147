// A service worker that imports the package as a page does, which loads scripts later: that is refused there.

import * as eg from "edgegrad";

self.onmessage = (event) => {
  const answer = (error) => event.source.postMessage({ error });
  event.waitUntil(eg.init().then(answer, ({ code, message }) => answer(`${code}: ${message}`)));
};
