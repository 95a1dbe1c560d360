import { expect, onTestFinished, test } from 'vitest';
import { startProject } from '../../../helpers/project.ts';

const config =
  'known_hosts_file: known_hosts\ncachedir: cache\nscript_limits: {milliseconds: 1500}\n';

const loops = {
  mako: [
    '#!mako|yaml\n% if grains["id"] == "bad":\n<% for (;;); %>\n% endif\nfine:\n  test.nop: []\n',
    'the template computed for more than 1.5 s (renderer limit)',
    'states/loop.sls:3',
  ],
  ts: [
    "#!ts\nimport { __grains__ } from 'tsalt-ssh/sls';\nexport const run = () => {\n  if (__grains__.id === 'bad') for (;;);\n  return { fine: { 'test.nop': [] } };\n};\n",
    'the program computed for more than 1.5 s (renderer limit)',
    'states/loop.sls',
  ],
  renderer: [
    '#!endless\nfine:\n',
    'the program computed for more than 1.5 s (renderer limit)',
    'states/_renderers/endless.ts',
  ],
} as const;

const renderer = `export const kind = 'any';
export const render = (_: string, { grains }: any) => {
  if (grains.id === 'bad') for (;;);
  return { fine: { 'test.nop': [] } };
};
`;

test.each(Object.entries(loops))(
  'an SLS without end by %s fails for its host, with its file; the other host is done',
  { tags: 'slow', timeout: 240_000 },
  async (_, [sls, message, place]) => {
    const project = await startProject({
      hosts: ['bad', 'web1'],
      files: {
        'tsalt.yaml': config,
        'states/loop.sls': sls,
        'states/_renderers/endless.ts': renderer,
      },
    });
    onTestFinished(project.close);
    const { stdout, stderr, code } = await project.run(
      '*',
      'state.apply',
      'loop',
      '--out=json',
      '--static',
    );
    const shown = stdout + stderr;
    expect(shown).toContain(message);
    expect(shown).toContain(place);
    expect(shown).not.toContain('no answer within');
    expect(JSON.parse(stdout).web1, shown).toMatchObject({
      'test_|-fine_|-fine_|-nop': { result: true },
    });
    expect(code).not.toBe(0);
  },
);

test('contents with an engine that runs code are refused with what to do, and a file in the roots is rendered', {
  tags: 'slow',
  timeout: 240_000,
}, async () => {
  const project = await startProject({
    files: {
      'states/a.sls':
        '{{ grains.root }}/a:\n  file.managed:\n    - contents: "${1 + 1}"\n    - template: mako\n',
      'states/b.sls':
        '{{ grains.root }}/b:\n  file.managed:\n    - source: salt://b.mako\n    - template: mako\n',
      'states/b.mako': '${1 + 1} ${typeof process} ${salt["cmd.run"]("echo here")}\n',
    },
  });
  onTestFinished(project.close);
  const refused = await project.run('web1', 'state.apply', 'a');
  expect(refused.stdout).toContain(
    "The renderer 'mako' runs code, so it renders only files of file_roots",
  );
  expect(refused.stdout).toContain(
    'put it into a file there and name that file (source: salt://…)',
  );
  expect((await project.run('web1', 'state.apply', 'b')).stdout).toContain('Succeeded: 1');
  const shown = await project.run('web1', 'cmd.run', `cat ${project.hosts.web1?.root}/b`);
  expect(shown.stdout).toContain('2 undefined here');
});
