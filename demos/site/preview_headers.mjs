// `npm run site:serve` sends the headers of isolation with every answer. Vite leaves them off "304 Not Modified", and WebKit
// then refuses the worker of a page that is loaded again.

/** A Vite plugin that sends `preview.headers` with every answer of the preview server. */
export function previewHeaders() {
  return {
    name: "preview-headers",
    configurePreviewServer({ config, middlewares }) {
      middlewares.use((_, response, next) => {
        for (const [name, value] of Object.entries(config.preview.headers)) {
          response.setHeader(name, value);
        }
        next();
      });
    },
  };
}
