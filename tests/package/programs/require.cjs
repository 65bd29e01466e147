// The same program as CommonJS.

const eg = require("edgegrad");
const { train } = require("./train.js");

eg.init().then(() => console.log(JSON.stringify({ losses: train(), runtime: eg.runtime() })));
