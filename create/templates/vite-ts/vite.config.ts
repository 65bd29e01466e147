import edgegrad from 'edgegrad/vite';
import { defineConfig } from 'vite';

// Threads require these headers. On hosts, public/_headers, vercel.json and public/.htaccess send them.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // Relative addresses, so that the site works in any folder of a server.
  base: './',
  // The page loads the engine together with its own scripts.
  plugins: [edgegrad()],
  server: { headers },
  preview: { headers },
});
