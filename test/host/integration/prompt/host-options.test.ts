import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root = '';

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/show.sls': `#!jinja|yaml
{{ grains.root }}/token:
  file.managed:
    - contents: '{{ opts.api_token }} {{ salt['config.get']('api_token') }}'
`,
      'states/_modules/asks.ts': `import { __opts__, __salt__ } from 'tsalt-ssh/module';
export const options = () => Object.keys(__opts__);
export const text = async () => [
  JSON.stringify(__opts__),
  await __salt__['config.get']('api_token'),
  await __salt__['config.items'](),
  await __salt__['config.option']('api_token'),
];
`,
    },
  });
  root = project.hosts.web1?.root ?? '';
  const config = readFileSync(join(project.dir, 'tsalt.yaml'), 'utf8');
  project.write({
    'tsalt.yaml': `${config}
api_token: canary-of-the-control-node
mysql.host: db1
backup_mode: minion
ssh_minion_opts: {site: north}
`,
  });
});
afterAll(() => project.close());

test('a host gets the options of modules and those that it is to have, no other ones', {
  tags: 'slow',
}, async () => {
  const { stdout } = await project.run('web1', 'asks.options', '--out=json');
  const names = (JSON.parse(stdout) as { web1: string[] }).web1;
  expect(names).toEqual(expect.arrayContaining(['mysql.host', 'backup_mode', 'site', 'id']));
  expect(names).not.toContain('api_token');
  const text = await project.run('web1', 'asks.text');
  expect(text.code).toBe(0);
  expect(text.stdout).not.toContain('canary');
});

test('templates of the control node see all options', async () => {
  expect((await project.run('web1', 'state.apply', 'show')).code).toBe(0);
  expect(readFileSync(join(root, 'token'), 'utf8')).toBe(
    'canary-of-the-control-node canary-of-the-control-node\n',
  );
});
