// The seed of the engine's random numbers: different in each test process, and printed if a test fails.

/** Seeds a started engine; the environment variable EG_TEST_SEED sets the seed in order to repeat a failure. */
export function seedFromEnvironment(eg) {
  const seed = Number(process.env.EG_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
  eg.manualSeed(seed);
  process.on("exit", (code) => {
    if (code !== 0) console.error(`The random numbers were those of EG_TEST_SEED=${seed}.`);
  });
}
