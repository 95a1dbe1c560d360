import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { FileRefs } from '../../../src/control/serve/file-refs.ts';
import { fileHandlers } from '../../../src/control/serve/file-requests.ts';
import { RenderRefs } from '../../../src/control/serve/render-refs.ts';
import { wholeRange } from '../../../src/data/taint.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import type { TsaltError } from '../../../src/protocol/error.ts';
import type { ListedFile } from '../../../src/protocol/job.ts';
import { unpackPieces } from '../../../src/protocol/listed-pieces.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import { ManyUnpacker } from '../../../src/protocol/many-files.ts';
import type { ModuleMeta } from '../../../src/protocol/meta.ts';
import { WithContent } from '../../../src/protocol/peer.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { type PrefetchedRender, renderRequest } from '../../../src/protocol/prefetch.ts';
import { renderIdentity } from '../../../src/protocol/render-identity.ts';
import { checkTextPipe } from '../../../src/render/render.ts';

const chunk = (given: object): LowChunk =>
  ({
    state: 'file',
    fun: 'managed',
    name: '/x',
    __id__: 'x',
    __sls__: 's',
    __env__: 'base',
    order: 1,
    ...given,
  }) as LowChunk;

const never = async (): Promise<never> => {
  throw new Error('nothing is called');
};

/**
 * @param computes the job has modules of the user
 * @param tainted the strings that the host sent
 */
const site = (chunks: readonly LowChunk[], computes = false, tainted: readonly string[] = []) => {
  const taintOf = (text: string) =>
    tainted.some(part => text.includes(part)) ? wholeRange(text, 'grain "os"') : undefined;
  const root = mkdtempSync(join(tmpdir(), 'tsalt-refs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'app'));
  for (const name of ['named', 'secret', 'app/a', 'app/b']) writeFileSync(join(root, name), name);
  const refs = new FileRefs(taintOf);
  refs.addChunks(chunks);
  const templates = new RenderRefs(taintOf);
  templates.addChunks(chunks, new Map(), []);
  const refused: TsaltError[] = [];
  const rendered: string[] = [];
  const handlers = fileHandlers({
    roots: new FileRoots({ base: [root] }),
    refs,
    templates,
    computes: () => computes,
    render: async ({ template }, text, _file, trust) => {
      rendered.push(`${template}${trust === 'confined' ? ' confined' : ''}: ${text}`);
      return text.toUpperCase();
    },
    takeKept: () => undefined,
    renderAhead: async ({ template }, text) => {
      rendered.push(`${template} ahead: ${text}`);
      return text.toUpperCase();
    },
    check: ({ template, source, saltenv }) => {
      const files = new FileRoots({ base: [root] });
      const context = { grains: new Map(), pillar: new Map(), opts: new Map(), files, call: never };
      checkTextPipe({ text: '', file: source, pipe: template, saltenv, context });
    },
    refuse: error => refused.push(error),
  });
  const ask = async (method: string, params: object): Promise<unknown> => {
    try {
      const answer = await handlers[method]?.(params as never, undefined as never);
      if (answer instanceof WithContent) for await (const _ of answer.content as Readable);
      return answer;
    } catch (error) {
      return (error as TsaltError).code;
    }
  };
  const keyOf = (request: PrefetchedRender): string =>
    createHash('sha256')
      .update(renderIdentity(request, String(request.chunk.name)))
      .digest('hex');
  /** As an honest host asks: by the hash of the template's arguments. */
  const askRender = ({ text, ...request }: Omit<PrefetchedRender, 'have'>) => {
    return ask('file.render', { key: keyOf(request), ...(text !== undefined && { text }) });
  };
  const contentOf = async (items: readonly string[][]): Promise<AsyncGenerator<Uint8Array>> => {
    const answer = await handlers['file.getMany']?.({ items } as never, undefined as never);
    return (answer as WithContent).content as AsyncGenerator<Uint8Array>;
  };
  const askMany = async (items: readonly string[][]): Promise<(Buffer | undefined)[]> => {
    const got: (Buffer | undefined)[] = [];
    const { push } = new ManyUnpacker(bytes => got.push(bytes));
    for await (const piece of await contentOf(items)) push(piece);
    return got;
  };
  const askList = async (params: object): Promise<ListedFile[]> => {
    const answer = await handlers['file.list']?.(params as never, undefined as never);
    const got: ListedFile[] = [];
    const push = unpackPieces(piece => got.push(...piece));
    for await (const piece of (answer as WithContent).content as AsyncIterable<Uint8Array>)
      push(piece);
    return got;
  };
  return { root, ask, askList, askMany, contentOf, askRender, keyOf, refused, rendered };
};

test('a host gets the files its job names, and what lies below a folder it names', async () => {
  const { root, ask, askList, refused } = site([
    chunk({ source: 'salt://named' }),
    chunk({ fun: 'recurse', source: 'salt://app' }),
  ]);
  expect(await ask('file.get', { path: 'salt://named', saltenv: 'base' })).toMatchObject({
    value: { found: true },
  });
  expect(await ask('file.get', { path: 'salt://app/a', saltenv: 'base' })).toMatchObject({
    value: { found: true },
  });
  expect(await ask('file.list', { path: 'salt://app', saltenv: 'base' })).toEqual(['a', 'b']);
  const listed = await askList({ path: 'salt://app', saltenv: 'base', hashes: true });
  expect(listed).toEqual(
    ['a', 'b'].map(name => {
      const content = readFileSync(join(root, 'app', name));
      const sha256 = createHash('sha256').update(content).digest('hex');
      return [name, content.length, statSync(join(root, 'app', name)).mode & 0o7777, sha256];
    }),
  );
  expect(refused).toEqual([]);
});

test('file.getMany: a host gets what file.get and file.render would send, and no large file', async () => {
  const template = { source: 'salt://named', template: 'jinja' };
  const { root, askMany, keyOf, refused } = site([
    chunk({ fun: 'recurse', source: 'salt://app' }),
    chunk(template),
  ]);
  writeFileSync(join(root, 'app/large'), Buffer.alloc(64 * 1024 + 1));
  writeFileSync(join(root, 'app/whole'), Buffer.alloc(64 * 1024));
  writeFileSync(join(root, 'app/empty'), '');
  const key = keyOf(renderRequest({ name: '/x', ...template }, 'base'));
  const got = await askMany([
    ...['a', 'large', 'whole', 'missing', 'empty'].map(name => [`salt://app/${name}`, 'base']),
    [key],
    ['0'.repeat(64)],
    ['app/b', 'base'],
  ]);
  expect(got.map(bytes => bytes?.length)).toEqual([
    ...[5, undefined, 65_536, undefined, 0, 5, undefined, 5],
  ]);
  expect([got[0], got[5], got[7]].map(String)).toEqual(['app/a', 'NAMED', 'app/b']);
  expect(refused).toEqual([]);
});

test('file.getMany: requests of one time do not share their memory', async () => {
  const { root, contentOf } = site([chunk({ fun: 'recurse', source: 'salt://app' })]);
  writeFileSync(join(root, 'app/a'), 'a'.repeat(64 * 1024));
  writeFileSync(join(root, 'app/b'), 'b'.repeat(64 * 1024));
  const items = (name: string) => Array.from({ length: 3 }, () => [`salt://app/${name}`, 'base']);
  const [one, other] = await Promise.all([contentOf(items('a')), contentOf(items('b'))]);
  for (let piece = 0; piece < 3; piece += 1) {
    const [a, b] = [(await one.next()).value, (await other.next()).value];
    expect(Buffer.from(a ?? []).includes('b')).toBe(false);
    expect(Buffer.from(b ?? []).includes('a')).toBe(false);
  }
});

test('file.getMany: one path the job does not name ends the run of the host', async () => {
  for (const item of [['salt://secret', 'base'], ['salt://named', 'dev'], ['no key']]) {
    const { askMany, refused } = site([chunk({ source: 'salt://named' })]);
    expect((await askMany([item, ['salt://named', 'base']])).map(bytes => bytes?.length)).toEqual([
      undefined,
      5,
    ]);
    expect(refused).toHaveLength(1);
  }
});

test('a file the job does not name ends the run of the host', async () => {
  const { ask, refused } = site([chunk({ source: 'salt://named' })]);
  for (const path of [
    'salt://secret',
    'salt://named/../secret',
    'salt://',
    'salt://app/a',
    '../secret',
    'salt://named\0',
  ])
    expect(await ask('file.get', { path, saltenv: 'base' }), path).toBe('file-refused');
  expect(refused.length).toBe(6);
});

test('an engine that does not exist is an error of the state: the host is not refused', async () => {
  for (const template of ['nope', 'py', 'jinja|nope']) {
    const { askRender, refused } = site([chunk({ template, contents_grains: 'os' })]);
    const request = { saltenv: 'base', context: {}, chunk: { name: '/x' }, source: '' };
    expect(await askRender({ ...request, template, text: 'x' })).toBe('pipe-unknown');
    expect(await askRender({ ...request, template: 'mako', text: 'x' })).toBe('template-unknown');
    expect(refused).toEqual([]);
  }
});

test('a text that the host made up is never rendered, nor a named file by another engine', async () => {
  const context = { part: 'a' };
  const { askRender, rendered } = site([
    chunk({ source: 'salt://named', template: 'jinja', contents: 'hello', context }),
  ]);
  const base = { saltenv: 'base', context, chunk: { name: '/x' }, template: 'jinja' };
  const text = { ...base, source: '', text: 'hello' };
  const file = { ...base, source: 'salt://named' };
  const engines = ['liquid', 'mako', 'wempy', 'ts', 'jinja|mako', 'liquid|jinja', ''];
  for (const request of [
    { ...text, text: '{{ pillar }}' },
    { ...text, text: '' },
    { ...file, text: 'hello' },
    { ...file, source: 'salt://secret' },
    ...[text, file].flatMap(one => [
      ...engines.map(template => ({ ...one, template })),
      ...[{}, { part: 'b' }, { part: 'a', grains: {} }].map(given => ({ ...one, context: given })),
      { ...one, chunk: { name: '/y' } },
    ]),
    { ...file, saltenv: 'prod' },
  ])
    expect(await askRender(request), JSON.stringify(request)).toBe('template-unknown');
  expect(rendered).toEqual([]);
  for (const request of [text, file])
    expect(await askRender(request)).toMatchObject({ value: { found: true } });
  expect(rendered).toEqual(['jinja: hello', 'jinja: named']);
});

test('contents that hold what the host sent are rendered confined, and by no engine that runs code', async () => {
  const { askRender, rendered } = site(
    [
      chunk({ template: 'jinja', contents: 'runs {{ 7 * 7 }}' }),
      chunk({ name: '/lines', template: 'liquid', contents: ['own', '{{ 7 * 7 }}'] }),
      chunk({ name: '/code', template: 'mako', contents: 'runs {{ 7 * 7 }}' }),
      chunk({ name: '/own', template: 'mako', contents: 'own' }),
    ],
    false,
    ['{{ 7 * 7 }}'],
  );
  const request = (name: string, template: string, text: string) =>
    askRender({ saltenv: 'base', context: {}, chunk: { name }, source: '', template, text });
  const found = { value: { found: true } };
  expect(await request('/x', 'jinja', 'runs {{ 7 * 7 }}')).toMatchObject(found);
  expect(await request('/lines', 'liquid', 'own\n{{ 7 * 7 }}')).toMatchObject(found);
  expect(await request('/own', 'mako', 'own')).toMatchObject(found);
  expect(await request('/code', 'mako', 'runs {{ 7 * 7 }}')).toBe('template-refused');
  expect(rendered).toEqual([
    'jinja confined: runs {{ 7 * 7 }}',
    'liquid confined: own\n{{ 7 * 7 }}',
    'mako: own',
  ]);
  expect(() =>
    site([chunk({ source: 'salt://named', template: 'mako' })], false, ['mako']),
  ).toThrow('The host chose the template engine mako');
});

test('a template that is asked for ahead of its turn is rendered so, unless it is confined', async () => {
  const { ask, rendered } = site([chunk({ source: 'salt://named', template: 'jinja' })]);
  const request = { source: 'salt://named', saltenv: 'base', template: 'jinja', context: {} };
  const key = createHash('sha256').update(renderIdentity(request, '/x')).digest('hex');
  await ask('file.render', { key, ahead: true });
  expect(rendered).toEqual(['jinja ahead: named']);
});

test('a text from where the job points outside of the roots is rendered confined', async () => {
  const { askRender, rendered, refused } = site([
    chunk({ source: '/etc/issue.in', template: 'jinja' }),
    chunk({ source: [{ 'https://example.com/a': 'sha256=0' }], template: 'liquid' }),
    chunk({ name: '/grains', contents_grains: 'a:b', template: 'jinja' }),
    chunk({ source: '/etc/code', template: 'ts' }),
  ]);
  const request = (source: string, template: string, name = '/x') => ({
    saltenv: 'base',
    context: {},
    chunk: { name },
    source,
    template,
    text: 'made on the host',
  });
  const found = { value: { found: true } };
  expect(await askRender(request('/etc/issue.in', 'jinja'))).toMatchObject(found);
  expect(await askRender(request('https://example.com/a', 'liquid'))).toMatchObject(found);
  expect(await askRender(request('', 'jinja', '/grains'))).toMatchObject(found);
  expect(rendered).toEqual([
    'jinja confined: made on the host',
    'liquid confined: made on the host',
    'jinja confined: made on the host',
  ]);
  for (const [source, template, name] of [
    ['/etc/issue.in', 'liquid', '/x'],
    ['/etc/other', 'jinja', '/x'],
    ['', 'jinja', '/x'],
  ] as const)
    expect(await askRender(request(source, template, name)), source).toBe('template-unknown');
  expect(await askRender(request('/etc/code', 'ts'))).toBe('template-refused');
  expect(refused).toEqual([]);
  expect(rendered).toHaveLength(3);
});

test('host-supplied arguments of file.append are rendered with Jinja unless the job sets another engine', async () => {
  const { askRender, rendered } = site([
    chunk({ fun: 'append', source: '/etc/part' }),
    chunk({ fun: 'append', source: '/etc/plain', template: null }),
    chunk({ fun: 'managed', source: '/etc/other' }),
  ]);
  const request = (source: string) => ({
    saltenv: 'base',
    context: {},
    chunk: { name: '/x' },
    source,
    template: 'jinja',
    text: 'made on the host',
  });
  expect(await askRender(request('/etc/part'))).toMatchObject({ value: { found: true } });
  expect(rendered).toEqual(['jinja confined: made on the host']);
  for (const other of ['/etc/plain', '/etc/other'])
    expect(await askRender(request(other))).toBe('template-unknown');
});

test('a template has the variables of its own state, whatever other states have', async () => {
  const { askRender, rendered } = site([
    chunk({ source: 'salt://named', template: 'jinja', context: { a: 1 }, defaults: { b: 2 } }),
    chunk({ name: '/y', source: 'salt://app/a', template: 'jinja', context: { a: 9 } }),
    chunk({ name: '/z', source: 'salt://app/a', template: 'liquid' }),
  ]);
  const request = (name: string, source: string, context: PlainDict, template = 'jinja') =>
    askRender({ saltenv: 'base', context, chunk: { name }, source, template });
  expect(await request('/x', 'salt://named', { b: 2, a: 1 })).toMatchObject({
    value: { found: true },
  });
  expect(rendered).toEqual(['jinja: named']);
  for (const other of [
    request('/x', 'salt://named', { a: 9 }),
    request('/y', 'salt://named', { a: 1, b: 2 }),
    request('/x', 'salt://app/a', { a: 9 }),
    request('/y', 'salt://app/a', {}, 'liquid'),
    request('/x', 'salt://named', { a: 1, b: 2 }, 'liquid'),
  ])
    expect(await other).toBe('template-unknown');
  expect(rendered).toHaveLength(1);
});

test('files below the folder of file.recurse are templates of its state', async () => {
  const { askRender, rendered } = site([
    chunk({ fun: 'recurse', source: 'salt://app', template: 'jinja' }),
  ]);
  const request = (source: string) =>
    askRender({ saltenv: 'base', context: {}, chunk: { name: '/x' }, source, template: 'jinja' });
  expect(await request('salt://app/b')).toMatchObject({ value: { found: true } });
  expect(await request('salt://app//a')).toMatchObject({ value: { found: true } });
  expect(rendered).toEqual(['jinja: app/b', 'jinja: app/a']);
  for (const source of ['salt://secret', 'salt://app/../secret', 'salt://named'])
    expect(await request(source)).toBe('template-unknown');
});

test('a template takes from the host what states of the job collect, and no more', async () => {
  const { ask } = site([
    chunk({ source: 'salt://named', template: 'jinja' }),
    chunk({ fun: 'accumulated', name: 'lines', filename: '/x', text: ['one', { a: 1 }] }),
  ]);
  const identity = renderIdentity(
    { source: 'salt://named', saltenv: 'base', template: 'jinja', context: {} },
    '/x',
  );
  const key = createHash('sha256').update(identity).digest('hex');
  const found = { value: { found: true } };
  const render = (accumulator: unknown) => ask('file.render', { key, accumulator });
  expect(await render({ lines: ['one'] })).toMatchObject(found);
  expect(await render({ lines: [{ a: 1 }, 'one'] })).toMatchObject(found);
  for (const lie of [{ lines: ['two'] }, { lines: 'one' }, { lines: [{ a: 2 }] }])
    expect(await render(lie)).toBe('template-unknown');
  for (const lie of [['one'], 'one']) expect(await render(lie)).toBe('wire-params');
});

test('templates of cp.get_template are those of its arguments', async () => {
  const signature = {
    positional: [{ name: 'path' }, { name: 'dest' }, { name: 'template', optional: true }],
    keywords: [
      { name: 'saltenv', optional: true },
      { name: 'context', optional: true },
    ],
    anyKeyword: true,
  };
  const cp = {
    kind: 'exec',
    file: 'cp',
    path: 'cp',
    builtin: true,
    doc: '',
    functions: [{ name: 'get_template', exportName: 'get_template', line: 1, signature }],
  } as unknown as ModuleMeta;
  const templates = new RenderRefs(() => undefined);
  const run = chunk({
    state: 'module',
    name: 'copy',
    'cp.get_template': ['salt://named', '/x', { context: { a: 1 }, extra: 2 }],
  });
  templates.addChunks([run], new Map(), [cp]);
  const trust = (context: PlainDict, template = 'jinja') => {
    const identity = renderIdentity(
      { source: 'salt://named', saltenv: 'base', template, context },
      'copy',
    );
    const key = createHash('sha256').update(identity).digest('hex');
    return templates.resolve(key, {}, new FileRoots({}))?.trust;
  };
  expect(trust({ extra: 2, a: 1 })).toBe('job');
  expect(trust({ a: 1 })).toBeUndefined();
  expect(trust({ extra: 2, a: 1 }, 'mako')).toBeUndefined();
});

test('a template that a user module computed is rendered confined, and only if there is such a module', async () => {
  const request = {
    source: 'salt://named',
    saltenv: 'base',
    template: 'jinja',
    context: { a: 1 },
    chunk: { name: '/x' },
  };
  const chunks = [chunk({ source: 'salt://named' })];
  const plain = site(chunks);
  expect(await plain.ask('file.renderComputed', request)).toBe('template-refused');
  expect(plain.refused).toEqual([]);
  const { ask, rendered, refused } = site(chunks, true);
  expect(await ask('file.renderComputed', request)).toMatchObject({ value: { found: true } });
  expect(rendered).toEqual(['jinja confined: named']);
  expect(await ask('file.renderComputed', { ...request, template: 'mako' })).toBe(
    'template-refused',
  );
  expect(refused).toEqual([]);
  expect(await ask('file.renderComputed', { ...request, source: 'salt://secret' })).toBe(
    'file-refused',
  );
  expect(refused).toEqual([]);
});

test('a name that is not text is an error of nobody', async () => {
  const name = { toString: 1 };
  const { ask } = site([chunk({ name, source: 'salt://named', template: 'jinja' })], true);
  const request = { source: '', saltenv: 'base', template: 'jinja', context: {}, text: 'x' };
  expect(await ask('file.renderComputed', { ...request, chunk: { name } })).toMatchObject({
    value: { found: true },
  });
});

test('a malformed reference ends the run of the host', async () => {
  const { ask, refused } = site([chunk({ source: 'salt://named', template: 'jinja' })]);
  for (const params of [
    { source: 'salt://named', template: 'jinja', saltenv: 'base', context: {}, chunk: {} },
    { key: 'x'.repeat(64) },
    { key: ['0'.repeat(64)] },
  ])
    expect(await ask('file.render', params)).toBe('template-unknown');
  expect(refused).toHaveLength(3);
});

test('a path inside of a text names no file; a slot names those of its arguments', async () => {
  const inside = site([chunk({ contents: 'see salt://secret, salt://.' })]);
  expect(await inside.ask('file.get', { path: 'salt://secret', saltenv: 'base' })).toBe(
    'file-refused',
  );
  const slot = site([chunk({ contents: '__slot__:salt:cp.get_file_str(salt://named)' })]);
  expect(await slot.ask('file.get', { path: 'salt://named', saltenv: 'base' })).toMatchObject({
    value: { found: true },
  });
});

test.each([
  'contents',
  'context',
  'defaults',
  'dataset',
  'text',
  'comment',
  'require',
  'onchanges_in',
])('a path in %s of a built-in state names no file', argument => {
  const refs = new FileRefs();
  const given = { source: 'salt://named', [argument]: 'salt://secret' };
  refs.addChunks([chunk({ ...given, [argument]: [{ 'salt://secret': 'salt://secret' }] })]);
  refs.addChunks([chunk(given)]);
  expect(refs.allows('named', 'base')).toBe(true);
  expect(refs.allows('secret', 'base')).toBe(false);
  const users = new FileRefs();
  users.addChunks([chunk(given)], 'base', state => state === 'file');
  expect(users.allows('secret', 'base')).toBe(true);
});

test('a host chooses a name within the path of a source only, unless a module of the user may be behind it', () => {
  const url = 'salt://app/Debian';
  const isSent = (text: string) =>
    text === url ? ([{ start: 11, end: 17, source: 'grain "os"' }] as const) : undefined;
  const allows = (given: object, isUsers?: () => boolean): boolean => {
    const refs = new FileRefs(isSent);
    refs.addChunks([chunk(given)], 'base', isUsers);
    return refs.allows('app/Debian', 'base');
  };
  for (const argument of ['source', 'name', 'key_url', 'requirements'])
    expect(allows({ [argument]: url }), argument).toBe(true);
  expect(allows({ source: [{ [url]: 'sha256=0' }] })).toBe(true);
  expect(allows({ onlyif: [{ fun: 'cp.hash_file', args: [url] }] })).toBe(true);
  expect(allows({ state: 'module', 'cp.get_file': [url, '/x'] })).toBe(true);
  for (const argument of ['user', 'pattern', 'backup', 'contents', 'require']) {
    expect(allows({ [argument]: url }), argument).toBe(false);
    expect(
      allows({ [argument]: url }, () => true),
      argument,
    ).toBe(true);
  }
  const plain = new FileRefs();
  plain.addChunks([chunk({ other: url })]);
  expect(plain.allows('app/Debian', 'base')).toBe(true);
});

test('a path that a module of the user puts together is an error of its state alone', async () => {
  const { ask, refused } = site([chunk({ source: 'salt://named' })], true);
  for (const method of ['file.get', 'file.list'])
    expect(await ask(method, { path: 'salt://secret', saltenv: 'base' })).toBe('file-refused');
  expect(refused).toEqual([]);
});

test('a literal of a module names its file, and never all files', () => {
  const refs = new FileRefs();
  for (const url of ['salt://', 'salt://.', 'salt:///etc/passwd', 'salt://../x', 'salt://named'])
    refs.addSource(url);
  expect(refs.allows('named', 'base')).toBe(true);
  for (const other of ['secret', 'x', 'etc/passwd', ''])
    expect(refs.allows(other, 'base')).toBe(false);
});

test('a saltenv beside its path, without a name, belongs to the job', () => {
  const refs = new FileRefs();
  refs.add(['salt://named', 'dev', { dest: '/x' }]);
  expect(refs.allows('named', 'dev')).toBe(true);
  expect(refs.allows('named', 'prod')).toBe(false);
  expect(refs.allows('secret', 'dev')).toBe(false);
  const others = new FileRefs();
  others.add([['dev'], 'prod', '/named']);
  others.add({ source: 'salt://named' });
  expect(others.allows('named', 'dev')).toBe(false);
});

test('a path is named in the saltenvs of its own state, not in those of others', () => {
  const refs = new FileRefs();
  refs.addChunks([
    chunk({ source: 'salt://a', __env__: 'dev' }),
    chunk({ source: 'salt://b?saltenv=prod' }),
    chunk({ 'cp.get_file': ['salt://c', '/x', { saltenv: 'test' }] }),
    chunk({ fun: 'recurse', source: 'salt://d', __env__: 'dev' }),
  ]);
  refs.addExtra(['salt://extra']);
  const allowed = ['a', 'b', 'c', 'd/x', 'extra'].flatMap(path =>
    ['base', 'dev', 'prod', 'test', 'other']
      .filter(saltenv => refs.allows(path, saltenv))
      .map(saltenv => `${path} ${saltenv}`),
  );
  expect(allowed).toEqual([
    ...['a base', 'a dev', 'b prod', 'c base', 'c test', 'd/x base', 'd/x dev'],
    ...['extra base', 'extra dev', 'extra prod', 'extra test'],
  ]);
  expect(refs.allows('salt://a?saltenv=prod', 'dev')).toBe(false);
});

test('the files in a requirements file are allowed with it, and no others', async () => {
  const { root, ask } = site([
    chunk({ state: 'pip', fun: 'installed', requirements: 'salt://app/all.txt' }),
  ]);
  writeFileSync(join(root, 'app/all.txt'), 'flask\n-r a\n-c ../named # both\n-r ../../outside\n');
  writeFileSync(join(root, 'app/a'), '--requirement=b\n');
  writeFileSync(join(root, 'app/b'), '');
  const get = (path: string) => ask('file.get', { path, saltenv: 'base' });
  // Not before the file that names it.
  expect(await site([]).ask('file.get', { path: 'salt://app/a', saltenv: 'base' })).toBe(
    'file-refused',
  );
  for (const path of ['app/all.txt', 'app/a', 'app/b', 'named'])
    expect(await get(`salt://${path}`)).toMatchObject({ value: { found: true } });
  expect(await get('salt://secret')).toBe('file-refused');
  expect(await get('salt://../outside')).toBe('file-refused');
});
