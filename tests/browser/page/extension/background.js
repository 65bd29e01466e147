// The service worker of an extension: trains when its page asks.

import * as eg from "./edgegrad/single/index.js";
import { train } from "./train.js";

chrome.runtime.onMessage.addListener((_, _sender, answer) => {
  eg.init()
    .then(() => answer({ losses: train(eg), variant: eg.runtime().variant }))
    .catch((error) => answer({ error: String(error) }));
  // The answer comes later.
  return true;
});
