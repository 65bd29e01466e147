// Servers for pages: Vite and similar tools, and a plain file server.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { soon } from "../../support/until.mjs";

const kTypes = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};
const kPackage = "/node_modules/edgegrad/dist/index.js";

/** Runs a Vite command that terminates, such as "build". */
export function runVite(folder, args) {
  const child = spawnNode(folder, [viteOf(folder), ...args]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("close", (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`vite ${args.join(" ")} ended with ${status}:\n${output}`));
    });
  });
}

/** Starts Vite's server ([] for development, ["preview"] for what was built); returns { url, stop }. */
export function serveWithVite(folder, args = []) {
  return serveWith(folder, viteOf(folder), args);
}

/** Starts a Node program that serves on a given port and prints its URL; returns { url, stop }. */
export async function serveWith(folder, program, args, node = process.execPath) {
  const port = String(await freePort());
  const child = spawnNode(folder, [program, ...args, "--port", port], node);
  const url = await addressIn(child);
  return { url, stop: () => child.kill() };
}

/**
 * Serves files unchanged, with extra headers, below `base`; bare imports of the package are replaced with its URL, which is
 * `package`. `types` and `contents` override content types and contents by extension; a request for which `isSilent` is true gets
 * no answer, one for which `isRefused` is true 404, one for which `hold` returns a promise gets its content after that, and what
 * `answer` returns for a request, { status, headers, content }, is sent instead of the file, and with isBroken the connection ends then. Returns { url, stop, requests }, where
 * `requests` are the requested paths.
 */
export async function serveFiles(folder, headers = {}, serving = {}) {
  const { base = "/", package: address = kPackage, types = {}, contents = {} } = serving;
  const { isSilent = () => false, isRefused = () => false, answer = () => undefined } = serving;
  const { hold = () => undefined } = serving;
  const requests = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    requests.push(pathname);
    if (isSilent(request)) return;
    if (!pathname.startsWith(base) || isRefused(request)) return response.writeHead(404).end();
    const other = answer(request);
    if (other?.isBroken) {
      response.writeHead(200, { "Content-Type": "text/javascript", ...other.headers });
      return response.write(other.content, () => request.socket.destroy());
    }
    if (other !== undefined) {
      return response.writeHead(other.status ?? 200, other.headers).end(await other.content);
    }
    const path = pathname.slice(base.length - 1).replace(/\/$/, "/index.html");
    const type = types[extname(path)] ?? kTypes[extname(path)];
    try {
      const content = contents[extname(path)] ?? readFileSync(join(folder, path));
      response.writeHead(200, { "Content-Type": type ?? "application/octet-stream", ...headers });
      response.flushHeaders();
      await hold(request);
      const isOwn = /\.(html|js)$/.test(path) && !path.startsWith("/node_modules/");
      response.end(isOwn ? withAddress(String(content), address) : content);
    } catch {
      response.writeHead(404).end();
    }
  });
  const port = await listen(server);
  return { url: `http://localhost:${port}${base}`, stop: () => stop(server), requests };
}

function stop(server) {
  server.close();
  server.closeAllConnections();
}

function withAddress(text, address) {
  return text
    .replace('"edgegrad"', JSON.stringify(address))
    .replace('"edgegrad/single"', JSON.stringify(address.replace("index.js", "single/index.js")));
}

function viteOf(folder) {
  return join(folder, "node_modules", "vite", "bin", "vite.js");
}

function spawnNode(folder, args, node = process.execPath) {
  const env = { ...process.env, NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1" };
  return spawn(node, args, { cwd: folder, env });
}

// Matches the URL that a server prints when it is ready.
function addressIn(child) {
  let output = "";
  const address = new Promise((resolve, reject) => {
    const read = (text) => {
      output += text;
      const origin = /http:\/\/localhost:\d+/.exec(output)?.[0];
      if (origin) resolve(`${origin}/`);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    child.on("close", () => reject(new Error(`The server ended:\n${output}`)));
  });
  return soon(() => `address of the server in its output:\n${output}`, address);
}

/** Returns a port number that is not in use. */
export async function freePort() {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, "localhost", () => resolve(server.address().port));
  });
}
