import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

// compressed writes each text file's gzip and brotli forms beside it, so that the server compresses nothing per request.
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (!/\.(js|css|svg|html)$/.test(name)) continue;
        const text = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        this.emitFile({ type: 'asset', fileName: `${name}.gz`, source: gzipSync(text, { level: 9 }) });
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
        this.emitFile({ type: 'asset', fileName: `${name}.br`, source: brotliCompressSync(text, quality) });
      }
    },
  };
}

export default defineConfig({
  base: '/ui/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: false, // the placeholder stays; make page removes what an earlier build left
    assetsInlineLimit: 0, // a data: script or style would need a weaker policy
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  plugins: [compressed()],
  server: { proxy: { '/api': 'http://localhost:8680' } },
});
