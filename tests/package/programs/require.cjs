// The same for those who have no modules of their own.

const eg = require("edgegrad");
const { train } = require("./train.js");

eg.init().then(() => console.log(JSON.stringify({ losses: train(), runtime: eg.runtime() })));
