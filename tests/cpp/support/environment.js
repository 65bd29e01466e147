// Passes GoogleTest's environment variables, such as the shard to run, from Node.js to a WebAssembly program.
Module.preRun = () => {
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith("GTEST_")) ENV[name] = value;
  }
};
