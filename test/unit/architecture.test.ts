import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

/** Which room may import which, and which npm packages it owns. A room missing here fails. */
const rooms: Record<string, { imports: string[]; packages?: string[] }> = {
  'main.ts': { imports: ['cli', 'library', 'memory'] },
  cli: {
    imports: [
      'library',
      'request',
      'control',
      'validate',
      'lsp',
      'trust',
      'config',
      'sdb',
      'roster',
      'render',
      'fileserver',
      'bundle',
      'output',
      'plan',
      'audit',
      'queue',
      'returners',
      'loader',
      'yaml',
      'data',
      'protocol',
    ],
    packages: ['yargs', 'yargs/helpers'],
  },
  request: {
    imports: [
      'config',
      'sdb',
      'roster',
      'render',
      'fileserver',
      'output',
      'loader',
      'yaml',
      'data',
      'protocol',
    ],
    packages: ['yargs'],
  },
  library: {
    imports: ['request', 'control', 'modules', 'config', 'sdb', 'roster', 'data', 'protocol'],
  },
  control: {
    imports: [
      'queue',
      'config',
      'sdb',
      'roster',
      'targeting',
      'fileserver',
      'render',
      'compiler',
      'wrapper',
      'bundle',
      'memory',
      'transport',
      'trust',
      'yaml',
      'data',
      'protocol',
    ],
    packages: ['p-limit'],
  },
  validate: {
    imports: [
      'control',
      'config',
      'sdb',
      'roster',
      'targeting',
      'fileserver',
      'render',
      'compiler',
      'wrapper',
      'bundle',
      'trust',
      'yaml',
      'data',
      'protocol',
    ],
  },
  lsp: {
    imports: ['validate', 'control', 'config', 'roster', 'fileserver', 'yaml', 'data', 'protocol'],
    packages: ['vscode-languageserver/node', 'vscode-languageserver-textdocument'],
  },
  wrapper: {
    imports: [
      'config',
      'sdb',
      'compiler',
      'render',
      'fileserver',
      'targeting',
      'yaml',
      'data',
      'protocol',
    ],
    packages: ['@dagrejs/dagre'],
  },
  config: { imports: ['sdb', 'trust', 'yaml', 'data', 'protocol'] },
  sdb: { imports: ['trust', 'yaml', 'data', 'protocol'] },
  roster: { imports: ['trust', 'yaml', 'data', 'protocol'], packages: ['esbuild'] },
  targeting: { imports: ['data', 'protocol'] },
  fileserver: { imports: ['trust', 'data', 'protocol'] },
  render: {
    imports: ['memory', 'trust', 'yaml', 'fileserver', 'modules', 'data', 'protocol'],
    packages: [
      'liquidjs',
      'json5',
      'smol-toml',
      're2js',
      'age-encryption',
      'esbuild',
      'quickjs-emscripten-core',
      '@jitl/quickjs-ng-wasmfile-release-sync',
    ],
  },
  compiler: { imports: ['targeting', 'data', 'protocol'] },
  bundle: { imports: ['trust', 'protocol'], packages: ['esbuild', '@babel/parser', 'fflate'] },
  transport: { imports: ['loader', 'trust', 'protocol'], packages: ['ssh2'] },
  loader: { imports: ['protocol'], packages: ['esbuild'] },
  queue: {
    imports: ['bundle', 'trust', 'protocol'],
    packages: ['age-encryption', 'bullmq', 'ioredis', 'prom-client'],
  },
  plan: {
    imports: ['compiler', 'bundle', 'output', 'trust', 'data', 'protocol'],
    packages: ['age-encryption'],
  },
  audit: { imports: ['bundle', 'output', 'plan', 'trust', 'protocol'], packages: ['prom-client'] },
  returners: {
    imports: ['bundle', 'trust', 'protocol'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace-base',
    ],
  },
  output: {
    imports: ['memory', 'data', 'protocol'],
    packages: ['listr2', '@dagrejs/dagre', 'esbuild'],
  },
  runtime: { imports: ['memory', 'modules', 'data', 'protocol'] },
  modules: { imports: ['data', 'protocol'], packages: ['tsalt-ssh/module', 'vitest'] },
  yaml: { imports: ['data', 'protocol'], packages: ['js-yaml', 'js-yaml/package.json'] },
  trust: { imports: ['protocol'] },
  memory: { imports: [] },
  data: { imports: ['protocol'] },
  protocol: { imports: [] },
};

/** Rooms that only compute: no files, no sockets, no clock. */
const pure = ['protocol', 'data', 'targeting', 'compiler'];

const specifiers = /(?:^(?:import|export|\}).*? from |^import |\bimport\()'([^']+)'/gm;
const room = (file: string): string => file.split('/')[1] ?? '';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map(path => posix.join('src', path))
  .filter(path => path.endsWith('.ts'));

const edges = files.flatMap(file =>
  [...readFileSync(file, 'utf8').matchAll(specifiers)].map(([, to = '']) => ({ file, to })),
);

const arrows = (list: typeof edges): string[] => list.map(({ file, to }) => `${file} -> ${to}`);

test('every room is in the table', () => {
  expect(files.length).toBeGreaterThan(0);
  expect(files.map(room).filter(name => !rooms[name])).toEqual([]);
});

test('rooms import only the rooms they may', () => {
  const crossing = edges
    .filter(({ to }) => to.startsWith('.'))
    .map(({ file, to }) => ({ file, to: posix.join(posix.dirname(file), to) }))
    .filter(({ file, to }) => room(file) !== room(to));

  expect(
    arrows(crossing.filter(({ file, to }) => !rooms[room(file)]?.imports.includes(room(to)))),
  ).toEqual([]);
});

test('each npm package is used only in the room that owns it', () => {
  const npm = edges.filter(({ to }) => !to.startsWith('.') && !to.startsWith('node:'));

  expect(arrows(npm.filter(({ file, to }) => !rooms[room(file)]?.packages?.includes(to)))).toEqual(
    [],
  );
});

test('pure rooms touch nothing outside the program', () => {
  // zlib only computes.
  const outside = edges.filter(({ to }) => to.startsWith('node:') && to !== 'node:zlib');
  expect(arrows(outside.filter(({ file }) => pure.includes(room(file))))).toEqual([]);
});

test('docs/architecture.md has the same facts about every folder', () => {
  const above: string[] = [];
  const told = readFileSync('docs/architecture.md', 'utf8')
    .split('\n')
    .flatMap(line => {
      const [, name, , imports = '', packages = ''] = line.split('|').map(cell => cell.trim());
      const own = /^`(\w+)`$/.exec(name ?? '')?.[1];
      if (own === undefined || !Object.hasOwn(rooms, own)) return [];
      const listed =
        imports === 'all of the above'
          ? [...above]
          : imports.split(/[ ,()]+/).filter(word => Object.hasOwn(rooms, word));
      above.push(own);
      return [{ own, imports: listed.sort(), packages: packages.split(', ') }];
    });
  const held = Object.entries(rooms).flatMap(([own, { imports, packages = [] }]) => {
    const npm = packages.filter(name => name !== 'tsalt-ssh/module' && name !== 'yargs/helpers');
    return own === 'main.ts'
      ? []
      : [{ own, imports: imports.toSorted(), packages: npm.length > 0 ? npm : ['–'] }];
  });
  const byName = (a: { own: string }, b: { own: string }): number => (a.own < b.own ? -1 : 1);
  expect(told.sort(byName)).toEqual(held.sort(byName));
});

test('a folder of control imports only folders that docs/architecture.md lists after it', () => {
  const text = readFileSync('docs/architecture.md', 'utf8');
  const [, list = ''] = /\nWithin `control`, ([\s\S]*?)\n\n## /.exec(text) ?? [];
  const layers = new Map(
    [...list.matchAll(/^(\d)\. (.*)$/gm)].flatMap(([, layer, names = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, Number(layer)]),
    ),
  );
  const folder = (file: string): string => file.split('/')[2] ?? '';
  const upward = edges
    .filter(({ file, to }) => file.startsWith('src/control/') && to.startsWith('.'))
    .map(({ file, to }) => ({ file, to: posix.join(posix.dirname(file), to) }))
    .filter(({ file, to }) => to.startsWith('src/control/') && folder(file) !== folder(to))
    .filter(({ file, to }) => !((layers.get(folder(file)) ?? 99) < (layers.get(folder(to)) ?? 0)));

  expect(arrows(upward)).toEqual([]);
});

test('a domain of modules imports itself, what all share, and the API only', () => {
  const path = (file: string, to: string): string => posix.join(posix.dirname(file), to);
  const domain = (file: string): string => file.split('/')[2] ?? '';
  const crossing = edges
    .filter(({ file, to }) => file.startsWith('src/modules/') && to.startsWith('.'))
    .map(({ file, to }) => ({ file, to: path(file, to) }))
    .filter(({ file, to }) => to.startsWith('src/modules/') && domain(file) !== domain(to))
    .filter(({ to }) => domain(to) !== '_shared' && !/^src\/modules\/[^/]+$/.test(to))
    // The API for users, and the test context, combine several domains.
    .filter(({ file }) => !/^src\/modules\/[^/]+$/.test(file));

  expect(arrows(crossing)).toEqual([]);
  const shared = files.filter(file => file.startsWith('src/modules/_shared/'));
  expect(shared.length).toBeLessThanOrEqual(70);
});

test('a folder of src has at most 40 files, subfolders not counted', () => {
  const sizes = new Map<string, number>();
  for (const file of files)
    sizes.set(posix.dirname(file), (sizes.get(posix.dirname(file)) ?? 0) + 1);
  expect([...sizes].filter(([, count]) => count > 40)).toEqual([]);
});

test('the control node imports only types of modules', () => {
  const values = files
    .filter(file => /^src\/(?:render|library)\//.test(file))
    .filter(file =>
      /^import (?!type )[^;]* from '(?:\.\.\/)+modules\//m.test(readFileSync(file, 'utf8')),
    );
  expect(values).toEqual([]);
});

test('the command line starts its runs by the library', () => {
  const crossing = edges
    .filter(({ to }) => to.startsWith('.'))
    .map(({ file, to }) => ({ file, to: posix.join(posix.dirname(file), to) }));
  const importers = (path: string): string[] =>
    crossing.filter(({ to }) => to === path).map(({ file }) => file);
  const besides = (paths: string[], area: RegExp): string[] =>
    paths.filter(path => !area.test(path));

  // What makes a run of options, configuration and rosters has one caller.
  expect(importers('src/request/request.ts')).toEqual(['src/library/fleet-run.ts']);
  expect(importers('src/request/open-sdb.ts')).toEqual(['src/library/open-project.ts']);
  expect(besides(importers('src/control/host/kept-runtimes.ts'), /^src\/control\//)).toEqual([
    'src/library/fleet-run.ts',
    'src/library/session.ts',
  ]);
  // Checks without hosts share their parts with runs, and start none.
  expect(besides(importers('src/control/fleet/run.ts'), /^src\/(?:control|validate)\//)).toEqual([
    'src/library/fleet-run.ts',
  ]);
  // These commands choose hosts, or examine one, or are another process of a run.
  const used = ['diagnose', 'no-target', 'orchestration-record', 'orchestration-request']
    .concat(['serve-worker', 'targets'])
    .map(name => `src/control/fleet/${name}.ts`)
    .concat(['src/control/host/last-grains.ts', 'src/control/host/run-shell.ts']);
  const conducting = crossing.filter(
    ({ file, to }) => /^src\/cli\//.test(file) && /^src\/control\/(?:fleet|host)\//.test(to),
  );
  expect([...new Set(conducting.map(({ to }) => to))].sort()).toEqual(used.sort());
});

test('modules reach files of the host through safe-fs only', () => {
  const looksOnly = [
    'src/modules/_shared/files/owner-names.ts',
    'src/modules/_shared/files/file-paths.ts',
  ];
  const files = readdirSync('src/modules', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => posix.join('src/modules', name));
  const direct = files.filter(file =>
    /from 'node:fs(?:\/promises)?'/.test(readFileSync(file, 'utf8')),
  );

  expect(direct.filter(file => !file.includes('/_shared/safe-fs/')).sort()).toEqual(
    looksOnly.sort(),
  );
});

test('docs/architecture.md walks through files that import one another', () => {
  const text = readFileSync('docs/architecture.md', 'utf8');
  const [, walk = ''] = /\n## The walk of `state.apply`\n([\s\S]*?)\n## /.exec(text) ?? [];
  const steps = [...walk.matchAll(/^( *)- `(src\/[^`]+)`/gm)].map(([, indent = '', file = '']) => ({
    depth: indent.length / 2,
    file,
  }));
  const above = steps.map(({ depth }, at) =>
    steps.slice(0, at).findLast(step => step.depth === depth - 1),
  );
  const links = steps.flatMap(({ file }, at) =>
    above[at] ? [`${above[at].file} -> ${file}`] : [],
  );
  const imports = new Set(
    edges.map(({ file, to }) => `${file} -> ${posix.join(posix.dirname(file), to)}`),
  );

  expect(steps.length).toBeGreaterThan(30);
  expect(steps.filter(({ depth }) => depth === 0)).toHaveLength(2);
  expect(steps.map(({ file }) => file).filter(file => !files.includes(file))).toEqual([]);
  expect(links.filter(link => !imports.has(link))).toEqual([]);
});
