// Writes the site into dist: the page, and the files of edgegrad that it loads.

import { cpSync, rmSync } from 'node:fs';

const kPackage = 'node_modules/edgegrad/dist';

rmSync('dist', { recursive: true, force: true });
cpSync('public', 'dist', { recursive: true });
cpSync(`${kPackage}/index.js`, 'dist/edgegrad/index.js');
cpSync(`${kPackage}/wasm`, 'dist/edgegrad/wasm', {
  recursive: true,
  filter: (path) => !path.endsWith('.map'),
});
