import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Threads require these headers. On hosts, public/_headers, vercel.json and public/.htaccess send them.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // Relative addresses, so that the site works in any folder of a server.
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  server: { headers },
  preview: { headers },
});
