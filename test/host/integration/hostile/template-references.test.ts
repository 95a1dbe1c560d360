import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root = '';

beforeAll(async () => {
  project = await startProject();
  root = project.hosts.web1?.root ?? '';
});
afterAll(() => project.close());

type Result = { __id__: string; result: boolean | null; comment: string };

const apply = async (sls: string, files: Record<string, string>): Promise<Result[]> => {
  project.write({ [`states/${sls}.sls`]: files[sls] ?? '' });
  for (const [path, text] of Object.entries(files))
    if (path !== sls) project.write({ [path]: text });
  const { stdout, stderr } = await project.run(
    ...['web1', 'state.apply', sls, '--out', 'json', '--static'],
  );
  try {
    return Object.values((JSON.parse(stdout) as { web1: Record<string, Result> }).web1);
  } catch {
    throw new Error(stdout + stderr);
  }
};

const read = (name: string): string => {
  const path = join(root, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : 'not there';
};

const context =
  '    - template: jinja\n    - context: {b: two, a: [1, {c: 2.5}]}\n    - defaults: {d: four}\n';
const template = '{{ b }} {{ a[1].c }} {{ d }}\n';

test('every state that renders a template has it rendered with its own variables', {
  tags: 'slow',
}, async () => {
  const results = await apply('all', {
    all: `${root}/managed:
  file.managed:
    - source: salt://t/managed.j2
${context}    - user: ${process.getuid?.() === 0 ? 'root' : ''}
    - mode: 640
${root}/first-of-list:
  file.managed:
    - source: [salt://t/none.j2, {'salt://t/managed.j2': ''}]
${context}
${root}/contents:
  file.managed:
    - contents: "{% raw %}{{ b }}{% endraw %} and text"
${context}
${root}/from-pillar:
  file.managed:
    - contents_pillar: text
${context}
${root}/from-grains:
  file.managed:
    - contents_grains: kernel
${context}
${root}/local.j2:
  file.managed:
    - contents: "{% raw %}{{ b }}{% endraw %} local"
${root}/local:
  file.managed:
    - source: ${root}/local.j2
${context}
${root}/folder:
  file.recurse:
    - source: salt://t/folder
${context}
${root}/appended:
  file.append:
    - source: salt://t/managed.j2
    - makedirs: true
    - context: {b: two, a: [1, {c: 2.5}], d: four}
collected:
  file.accumulated:
    - filename: ${root}/with-lines
    - text: [line one, line two]
    - require_in: [{file: ${root}/with-lines}]
${root}/with-lines:
  file.managed:
    - source: salt://t/lines.j2
    - template: jinja
salt://t/script.sh an-argument:
  cmd.script:
${context}    - cwd: ${root}
copy:
  module.run:
    - cp.get_template:
      - salt://t/managed.j2
      - ${root}/copied
      - context: {b: two, a: [1, {c: 2.5}], d: four}
cp.get_template:
  module.run:
    - path: salt://t/managed.j2
    - dest: ${root}/copied-old
    - b: two
    - a: [1, {c: 2.5}]
    - d: four
${root}/by-slot:
  file.managed:
    - source: salt://t/slot.j2
    - template: jinja
    - context: {v: "__slot__:salt:test.echo(slotted)"}
`,
    'states/t/managed.j2': template,
    'states/t/slot.j2': 'v={{ v }}\n',
    'states/t/folder/sub/x.txt': `{{ name }} ${template}`,
    'states/t/lines.j2': "{{ accumulator['collected'] | join(',') }}\n",
    'states/t/script.sh': '#!/bin/sh\necho "{{ b }} $1" > script-ran\n',
    'pillar/top.sls': "base: {'*': [text]}\n",
    'pillar/text.sls': 'text: "{% raw %}{{ b }}{% endraw %} of pillar"\n',
  });
  expect(results.filter(({ result }) => result !== true)).toEqual([]);
  const rendered = 'two 2.5 four\n';
  expect({
    managed: read('managed'),
    list: read('first-of-list'),
    contents: read('contents'),
    pillar: read('from-pillar'),
    grains: read('from-grains'),
    local: read('local'),
    folder: read('folder/sub/x.txt'),
    appended: read('appended'),
    lines: read('with-lines'),
    script: read('script-ran'),
    copied: read('copied'),
    old: read('copied-old'),
    slot: read('by-slot'),
  }).toEqual({
    managed: rendered,
    list: rendered,
    contents: 'two and text\n',
    pillar: 'two of pillar\n',
    grains: 'Linux\n',
    local: 'two local\n',
    folder: `${root}/folder/sub/x.txt ${rendered}`,
    appended: rendered,
    lines: 'line one,line two\n',
    script: 'two an-argument\n',
    copied: rendered,
    old: rendered,
    slot: 'v=slotted\n',
  });
});

test('a function from the command line has its template rendered with its own arguments', async () => {
  const copy = async (...args: string[]) =>
    project.run('web1', ...args, '--out', 'json', '--static');
  project.write({ 'states/t/part.txt': 'part', 'states/t/own.j2': '{% include part %} {{ b }}\n' });
  const options = ['part=t/part.txt', 'b=two'];
  await copy('cp.get_template', 'salt://t/own.j2', `${root}/own`, ...options);
  expect(read('own')).toBe('part two\n');
  project.write({ 'states/t/id.j2': '{{ grains.kernel }}\n' });
  await copy('cp.get_file', 'salt://t/id.j2', `${root}/id`, 'template=jinja');
  expect(read('id')).toBe('Linux\n');
});

const own = (body: string): string =>
  `import { __states__ } from 'tsalt-ssh/module';\nexport const managed = (name: string) => ${body};\n`;

test('a module of the user names its source as a text, and computes the variables', {
  tags: 'slow',
}, async () => {
  const results = await apply('computed', {
    computed: `${root}/computed:\n  mine.managed: []\n${root}/plain:\n  ours.managed: []\nother:\n  test.nop: []\n`,
    'states/_states/mine.ts': own(
      "__states__['file.managed'](name, { source: 'salt://t/computed.j2', template: 'jinja', context: { v: 6 * 7 } })",
    ),
    'states/_states/ours.ts': own("__states__['file.managed'](name, { source: 'salt://t/plain' })"),
    'states/t/computed.j2': 'v={{ v }}\n',
    'states/t/plain': 'plain\n',
  });
  expect(results.map(({ result }) => result)).toEqual([true, true, true]);
  expect(read('computed')).toBe('v=42\n');
  expect(read('plain')).toBe('plain\n');
});

test('a source that is put together fails its state with what to do; the run goes on at once', {
  tags: 'slow',
}, async () => {
  const states = `${root}/joined:\n  joined.managed: []\n${root}/given:\n  given.managed:\n    - from: salt://t/plain\nother:\n  test.nop: []\n`;
  const files = {
    joined: states,
    'states/_states/joined.ts': own(
      "__states__['file.managed'](name, { source: `salt://t/${name.slice(-6)}` })",
    ),
    'states/_states/given.ts': `import { __states__ } from 'tsalt-ssh/module';
export const managed = (name: string, from: string) => __states__['file.managed'](name, { source: from });
`,
    'states/t/joined': 'joined\n',
    'states/t/plain': 'plain\n',
  };
  const results = await apply('joined', files);
  expect(results.map(({ result }) => result)).toEqual([false, true, true]);
  expect(results[0]?.comment).toMatch(
    /salt:\/\/t\/joined is named neither by this run nor by a module: write the path as one text/,
  );
  expect(read('given')).toBe('plain\n');
  // The host is not locked by the run before.
  const again = await apply('joined', files);
  expect(again.map(({ result }) => result)).toEqual([false, true, true]);
});
