// The functions that ends.html runs in workers until they are terminated.

import * as eg from "edgegrad";

export function spin(x, isRunning) {
  const kept = eg.keep(Array.from({ length: 50 }, (_, i) => x.add(i)));
  eg.noGrad(() => isRunning.fill_(1));
  for (;;) {
    eg.scope(() => {
      for (const one of kept) one.add(x).mul(2);
    });
  }
}

eg.expose({ spin });
