// A static file server.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const kTypes = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
  ".webp": "image/webp",
  ".webmanifest": "application/manifest+json",
};

/**
 * Serves a folder below `base` with the given headers; port 0 selects any free port. As on other servers, the address of a folder without a
 * trailing "/" is redirected. Resolves to { url, stop }.
 */
export async function serveFolder(folder, { port = 0, base = "/", headers = {} } = {}) {
  const server = createServer((request, response) => {
    const file = fileOf(folder, base, request.url);
    if (file === null && fileOf(folder, base, `${request.url}/`) !== null)
      return response.writeHead(301, { Location: `${request.url}/`, ...headers }).end();
    if (file === null) return response.writeHead(404).end();
    const type = kTypes[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "localhost", resolve);
  });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://localhost:${server.address().port}${base}`, stop };
}

// Returns the file for a URL, or null.
function fileOf(folder, base, url) {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  if (!path.startsWith(base)) return null;
  const file = join(folder, normalize(path.slice(base.length - 1)).replace(/\/$/, "/index.html"));
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : null;
}
