// Bundles the command line into one file, so that it starts fast and runs on Node 20 as it is.
// Modules that a run does not need are not evaluated; esbuild itself is only required
// when an artifact must be built. The one of a tree without modules of its own is built here
// (scripts/prebuild.ts).
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildPackageApi } from './package-api.mjs';

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
const apart = [
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

await rm(`${root}dist`, { recursive: true, force: true });
await mkdir(`${root}dist`);

/** Bundles a script of this project and hands its path on; the file is removed afterwards. */
const withScript = async (source, use) => {
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

await withScript('scripts/types.ts', file =>
  execFileSync(process.execPath, [file], { stdio: 'inherit' }),
);

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
// In the npm package the sources that artifacts are bundled from are one file.
const sources = await withScript('src/bundle/packed-sources.ts', async file => {
  const { packSources } = await import(file);
  return packSources(root);
});
await mkdir(`${root}dist/prebuilt`);
await writeFile(`${root}dist/prebuilt/sources.br`, sources.bytes);
await build({
  entryPoints: [`${root}src/main.ts`],
  outfile: `${root}dist/main.cjs`,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  charset: 'ascii',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 400,
  plugins: [onlyClientOfSsh2, largePacketsOfSsh2, packagesApart],
  external: ['esbuild', '*.node', 'cpu-features'],
  supported: { 'dynamic-import': false },
  define: {
    'import.meta.url': 'importMetaUrl',
    bootPrograms: JSON.stringify(bootPrograms),
    reportPage: JSON.stringify(reportPage),
    completionScripts: JSON.stringify(completionScripts),
    sourcesId: JSON.stringify(sources.id),
  },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'warning',
});
const { writeCompressed } = await withScript('scripts/compressed-program.ts', file => import(file));
for (const { file, contents } of apart) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    charset: 'ascii',
    minify: true,
    // Scripts of node:vm have no import().
    supported: { 'dynamic-import': false },
    logLevel: 'warning',
  });
  writeCompressed(`${root}dist/${file}`, outputFiles[0].contents);
}
await copyFile(`${root}scripts/launcher.cjs`, `${root}dist/tsalt-ssh.cjs`);
await chmod(`${root}dist/tsalt-ssh.cjs`, 0o755);

await buildPackageApi();
await withScript('scripts/prebuild.ts', file =>
  execFileSync(process.execPath, [file], { stdio: 'inherit' }),
);
