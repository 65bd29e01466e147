// The example file of the page, which is made when the site is built.

const kFile = "converter/example/digits.onnx";

/** A Vite plugin that serves the example, and writes it next to the built pages. */
export function exampleModelFile() {
  let made;
  const bytes = () => {
    // Not imported before, because it starts the engine.
    made ??= import("./model.mjs").then(({ exampleModel }) => exampleModel());
    return made;
  };
  return {
    name: "example-model",
    configureServer(server) {
      server.middlewares.use(async (request, response, next) => {
        if (!request.url.endsWith(`/${kFile}`)) return next();
        response.end(await bytes());
      });
    },
    async generateBundle() {
      this.emitFile({ type: "asset", fileName: kFile, source: await bytes() });
    },
  };
}
