// The seed of the engine's random numbers: another one in each process of tests, told when one of them fails.

/** Seeds an engine that has started; EG_TEST_SEED in the environment is the seed of a failure that is to be repeated. */
export function seedFromEnvironment(eg) {
  const seed = Number(process.env.EG_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
  eg.manualSeed(seed);
  process.on("exit", (code) => {
    if (code !== 0) console.error(`The random numbers were those of EG_TEST_SEED=${seed}.`);
  });
}
