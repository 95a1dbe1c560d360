import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { FileRefs, fileHandlers } from '../../src/control/file-requests.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import type { TsaltError } from '../../src/protocol/error.ts';
import type { LowChunk } from '../../src/protocol/low.ts';
import { WithContent } from '../../src/protocol/peer.ts';
import { checkTextPipe } from '../../src/render/render.ts';

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

const site = (chunks: readonly LowChunk[]) => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-refs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'app'));
  for (const name of ['named', 'secret', 'app/a', 'app/b']) writeFileSync(join(root, name), name);
  const refs = new FileRefs();
  refs.addChunks(chunks);
  const refused: TsaltError[] = [];
  const rendered: string[] = [];
  const handlers = fileHandlers({
    roots: new FileRoots({ base: [root] }),
    refs,
    render: async ({ template }, text, _file, trust) => {
      rendered.push(`${template}${trust === 'confined' ? ' confined' : ''}: ${text}`);
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
  return { root, ask, refused, rendered };
};

test('a host gets the files its job names, and what lies below a folder it names', async () => {
  const { ask, refused } = site([
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
  expect(refused).toEqual([]);
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

test('an engine that does not exist is a fault of the state: the host is not refused', async () => {
  const { ask, refused } = site([chunk({ template: 'nope', contents_grains: 'os' })]);
  const request = { saltenv: 'base', context: {}, chunk: { name: '/x' }, source: '' };
  for (const template of ['nope', 'py', 'jinja|nope'])
    expect(await ask('file.render', { ...request, template, text: 'x' })).toBe('pipe-unknown');
  expect(refused).toEqual([]);
  expect(await ask('file.render', { ...request, template: 'mako', text: 'x' })).toBe(
    'template-refused',
  );
  expect(refused.length).toBe(1);
});

test('a text that the host made up is never rendered, nor a named file by another engine', async () => {
  const { ask, rendered } = site([
    chunk({ source: 'salt://named', template: 'jinja', contents: 'hello' }),
  ]);
  const base = { saltenv: 'base', context: {}, chunk: { name: '/x' } };
  expect(await ask('file.render', { ...base, source: '', template: 'ts', text: 'hello' })).toBe(
    'template-refused',
  );
  expect(
    await ask('file.render', { ...base, source: '', template: 'jinja', text: '{{ pillar }}' }),
  ).toBe('template-refused');
  expect(await ask('file.render', { ...base, source: 'salt://named', template: 'mako' })).toBe(
    'template-refused',
  );
  expect(await ask('file.render', { ...base, source: 'salt://secret', template: 'jinja' })).toBe(
    'file-refused',
  );
  expect(rendered).toEqual([]);
  expect(
    await ask('file.render', { ...base, source: '', template: 'jinja', text: 'hello' }),
  ).toMatchObject({ value: { found: true } });
  expect(
    await ask('file.render', { ...base, source: 'salt://named', template: 'jinja' }),
  ).toMatchObject({ value: { found: true } });
});

test('a text from where the job points outside of the roots is rendered confined', async () => {
  const { ask, rendered, refused } = site([
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
  expect(await ask('file.render', request('/etc/issue.in', 'jinja'))).toMatchObject(found);
  expect(await ask('file.render', request('https://example.com/a', 'liquid'))).toMatchObject(found);
  expect(await ask('file.render', request('', 'jinja', '/grains'))).toMatchObject(found);
  expect(rendered).toEqual([
    'jinja confined: made on the host',
    'liquid confined: made on the host',
    'jinja confined: made on the host',
  ]);
  for (const [source, template, name] of [
    ['/etc/issue.in', 'liquid', '/x'],
    ['/etc/other', 'jinja', '/x'],
    ['/etc/code', 'ts', '/x'],
    ['', 'jinja', '/x'],
  ] as const)
    expect(await ask('file.render', request(source, template, name)), source).toBe(
      'template-refused',
    );
  expect(refused[0]?.message).toBe(
    'The host asked to render a text of its own by liquid, which its job does not name.',
  );
  expect(rendered).toHaveLength(3);
});

test('what file.append takes from the host is rendered with Jinja unless the job says otherwise', async () => {
  const { ask, rendered } = site([
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
  expect(await ask('file.render', request('/etc/part'))).toMatchObject({ value: { found: true } });
  expect(rendered).toEqual(['jinja confined: made on the host']);
  for (const other of ['/etc/plain', '/etc/other'])
    expect(await ask('file.render', request(other))).toBe('template-refused');
});

test('a saltenv that stands beside its path without a name is the job’s too', () => {
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

test('what a file of requirements names comes with it, and nothing else does', async () => {
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
