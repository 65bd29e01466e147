// A server of files by name, which answers requests for ranges of bytes as well as its options let it.

import { createServer } from "node:http";

/**
 * Serves { name: bytes }. Resolves to { url, requests, stop }; `requests` are the ranges that were asked for. Options:
 * `ignoresRanges` sends whole files, `hidesTotal` sends no Content-Range, `refusesHead` answers HEAD with an error, `endsEarly` closes the connection,
 * `version()` is the ETag, `isForOtherOrigins` lets pages of other origins read the answers, and the size too unless the query is "?hidden".
 */
export async function serveRanges(files, options = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    const bytes = files[decodeURIComponent(new URL(request.url, "http://x").pathname.slice(1))];
    requests.push(request.headers.range ?? request.method);
    if (bytes === undefined) return response.writeHead(404).end();
    answer(request, response, Buffer.from(bytes), options);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, requests, stop };
}

function corsFor({ url }) {
  return {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    ...(!url.endsWith("?hidden") && { "Access-Control-Expose-Headers": "Content-Range, ETag" }),
  };
}

function answer(
  request,
  response,
  bytes,
  { ignoresRanges, hidesTotal, refusesHead, endsEarly, version, isForOtherOrigins },
) {
  const headers = { ETag: version?.() ?? '"1"', ...(isForOtherOrigins && corsFor(request)) };
  if (request.method === "HEAD") {
    if (refusesHead) return response.writeHead(405).end();
    return response.writeHead(200, { ...headers, "Content-Length": bytes.length }).end();
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  if (range === null || ignoresRanges) return response.writeHead(200, headers).end(bytes);
  const start = Number(range[1]);
  const end = Math.min(Number(range[2]) + 1, bytes.length);
  if (start >= bytes.length) return response.writeHead(416).end();
  if (!hidesTotal) headers["Content-Range"] = `bytes ${start}-${end - 1}/${bytes.length}`;
  const part = bytes.subarray(start, end);
  response.writeHead(206, { ...headers, "Content-Length": part.length });
  if (!endsEarly || start === 0) return response.end(part);
  response.write(part.subarray(0, part.length / 2), () => response.destroy());
}
