// Serves a folder with the headers that threads require: node serve.mjs FOLDER [--port 5173].

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '5173' } },
});
const [folder = 'public'] = positionals;

const kTypes = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

// In development the package is served from where npm has installed it.
const kPackage = join('node_modules', 'edgegrad', 'dist');

function find(url) {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
  const candidates = [file, path.startsWith('/edgegrad/') && join(kPackage, path.slice('/edgegrad'.length))];
  return candidates.find((candidate) => candidate && statSync(candidate, { throwIfNoEntry: false })?.isFile());
}

createServer((request, response) => {
  const file = find(request.url);
  if (!file) return response.writeHead(404).end('not found');
  response.writeHead(200, {
    'Content-Type': kTypes[extname(file)] ?? 'application/octet-stream',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  });
  createReadStream(file).pipe(response);
}).listen(Number(values.port), 'localhost', () => console.log(`http://localhost:${values.port}/`));
