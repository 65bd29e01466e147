// Allowed by TypeScript 5.8 and newer, where Node.js can require a module.

import eg = require("edgegrad");

eg.init().then(() => {
  const sum: number = eg.ones([2, 3]).sum().item();
  if (sum !== 6) throw new Error(`the sum is ${sum}`);
});
