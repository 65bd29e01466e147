// A page of an extension: trains here with threads, and in the service worker.

import * as eg from "./edgegrad/index.js";
import { train } from "./train.js";

async function result() {
  await eg.init({ threads: 2 });
  const { variant, threads } = eg.runtime();
  const page = { losses: train(eg), variant, threads };
  return { page, background: await chrome.runtime.sendMessage("train") };
}

result()
  .catch((error) => ({ error: String(error) }))
  .then((value) => {
    document.body.textContent = JSON.stringify(value);
  });
