// Bundles the command line (src/main.ts) into one file.
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

// ssh2's index also evaluates its server, key generator and HTTP agents (and with them http and
// https): 5 ms of every run for what this program never uses.
const ssh2 = `module.exports = {
  get Client() { return require('./client.js'); },
  utils: { get parseKey() { return require('./protocol/keyParser.js').parseKey; } },
};`;
const onlyClientOfSsh2 = {
  name: 'only-client-of-ssh2',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]ssh2[\\/]lib[\\/]index\.js$/ }, () => ({ contents: ssh2 })),
};

// ssh2 takes no packet above 35,000 bytes, and a login banner is one packet: OpenSSH sends up to
// 256 KB of it, other servers up to 1 MB.
const largePacketsOfSsh2 = {
  name: 'large-packets-of-ssh2',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]ssh2[\\/]lib[\\/]protocol[\\/]crypto\.js$/ }, async ({ path }) => {
      const [before, after, ...more] = (await readFile(path, 'utf8')).split(
        'const MAX_PACKET_SIZE = 35000;',
      );
      if (after === undefined || more.length > 0) throw new Error(`${path} has another limit.`);
      return { contents: `${before}const MAX_PACKET_SIZE = 1100000;${after}` };
    }),
};

// Large packages that few commands need: each is a file of its own beside the program.
export const apart = [
  {
    // Trees with modules of their own
    file: 'module-parser.cjs',
    packages: /^@babel\/parser$/,
    contents: `export { parse } from '@babel/parser';`,
  },
  {
    // `tsalt-ssh lsp`
    file: 'language-protocol.cjs',
    packages: /^vscode-languageserver/,
    contents: `export { CodeActionKind, createConnection, CompletionItemKind,
      DiagnosticSeverity, ResponseError, SymbolKind, TextDocumentSyncKind, TextDocuments } from 'vscode-languageserver/node';
      export { TextDocument } from 'vscode-languageserver-textdocument';`,
  },
  {
    // `tsalt-ssh audit --prometheus`
    file: 'metrics.cjs',
    packages: /^prom-client$/,
    contents: `export { Gauge, Registry } from 'prom-client';`,
  },
  {
    // `--return otlp`
    file: 'telemetry.cjs',
    packages: /^@opentelemetry\//,
    contents: `export { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
      export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
      export { resourceFromAttributes } from '@opentelemetry/resources';
      export { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';`,
  },
  {
    // `--via`, `tsalt-ssh worker`
    file: 'queue.cjs',
    packages: /^(?:bullmq|ioredis)$/,
    contents: `export { Queue, Worker } from 'bullmq'; export { Redis } from 'ioredis';`,
  },
];
const packagesApart = {
  name: 'packages-apart',
  setup: ({ onResolve }) => {
    for (const { file, packages } of apart)
      onResolve({ filter: packages }, () => ({ path: `./${file}`, external: true }));
  },
};

/** Bundles a script of this project and hands its path on; the file is removed afterwards. */
export const withScript = async (source, use) => {
  const file = `${root}dist/${source.replace(/.*\//, '').replace(/ts$/, 'mjs')}`;
  await build({
    entryPoints: [root + source],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  try {
    return await use(file);
  } finally {
    await rm(file);
  }
};

/**
 * @param outfile the file to write; the programs of `apart` are expected beside it
 * @param sourcesId names the sources that artifacts are bundled from
 * @param plugins more plugins of esbuild, which come first
 * @param names whether functions keep their names, for the stacks of errors: the file is a third larger
 */
export const bundleMain = async ({ outfile, sourcesId, plugins = [], names = false }) => {
  const bootPrograms = await withScript('src/loader/read-programs.ts', async file => {
    const { readPrograms } = await import(file);
    return readPrograms(`${root}src/loader`);
  });
  const reportPage = await withScript('src/output/html/read-page.ts', async file => {
    const { readPage } = await import(file);
    return readPage(`${root}src/output/html`);
  });
  const completionScripts = await withScript('src/cli/completion/scripts.ts', async file => {
    const { readCompletionScripts } = await import(file);
    return readCompletionScripts(`${root}src/cli/completion`);
  });
  await build({
    entryPoints: [`${root}src/main.ts`],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    charset: 'ascii',
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: !names,
    lineLimit: 400,
    plugins: [...plugins, onlyClientOfSsh2, largePacketsOfSsh2, packagesApart],
    external: ['esbuild', '*.node', 'cpu-features'],
    supported: { 'dynamic-import': false },
    define: {
      'import.meta.url': 'importMetaUrl',
      bootPrograms: JSON.stringify(bootPrograms),
      reportPage: JSON.stringify(reportPage),
      completionScripts: JSON.stringify(completionScripts),
      sourcesId: JSON.stringify(sourcesId),
    },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'warning',
  });
};
