// The same program for every Node.js version with modules.

async function main() {
  const eg = await import("edgegrad");
  const { train } = await import("./train.js");
  await eg.init();
  console.log(JSON.stringify({ losses: train(), runtime: eg.runtime() }));
}

main();
