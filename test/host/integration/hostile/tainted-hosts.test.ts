import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type HostileProject,
  type HostileScript,
  startHostileProject,
} from '../../../helpers/hostile-host.ts';

let hostile: HostileProject;
let mark: string;

beforeAll(async () => {
  hostile = await startHostileProject();
  mark = join(hostile.project.dir, 'owned');
});
afterAll(() => hostile.close());

/** Code that Mako would run on the control node. */
const code = (): string =>
  `\${process.getBuiltinModule('node:fs').writeFileSync('${mark}', 'owned')}`;

/** Has whatever the control node compiled rendered, as a host may while a state runs. */
const renderChunks: HostileScript = async ({
  method,
  params,
  given,
  ask,
  reply,
  tell,
  renderKey,
}) => {
  if (method === 'call') return reply({ value: given, retcode: 0 });
  if (method !== 'run') return;
  for (const { name, template, contents } of params.chunks) {
    tell('run');
    const answer = await ask('file.render', {
      key: renderKey(name, '', template ?? 'mako'),
      text: contents ?? '',
    });
    tell(answer.content ?? answer.error?.code);
  }
  reply({ retcode: 0 });
};

/** Whether a host got its one state; faults are a list. */
const isCompiled = (shown: unknown): boolean =>
  typeof shown === 'object' &&
  shown !== null &&
  !Array.isArray(shown) &&
  Object.keys(shown).length === 1;

const top = (sls: string) => ({ 'states/top.sls': `base:\n  '*':\n    - ${sls}\n` });

type Case = {
  readonly name: string;
  readonly sls: string;
  readonly os?: () => string;
  readonly answer?: () => string;
  readonly says: RegExp;
};

const breakOut = (indent: string) => () =>
  `${code()}\n${indent}- template: mako\n${indent}- user: root #`;

const cases: readonly Case[] = [
  {
    name: 'the SLS of the README, by liquid',
    sls: '/etc/motd:\n  file.managed:\n    - contents: |\n        {{ grains.id }} runs {{ grains.os }} {{ grains.osrelease }}\n',
    os: breakOut('    '),
    says: /bad's grain "os" would change the structure of \S*states\/x\.sls:\d+/,
  },
  {
    name: 'the SLS of the README, by jinja',
    sls: '#!jinja|yaml\n/etc/motd:\n  file.managed:\n    - contents: |\n        {{ grains.id }} runs {{ grains.os }} {{ grains.osrelease }}\n',
    os: breakOut('    '),
    says: /bad's grain "os" would change the structure of \S*states\/x\.sls:5/,
  },
  {
    name: 'a plain scalar',
    sls: 'x:\n  file.managed:\n    - name: /etc/x\n    - contents: os={{ grains.os }}\n',
    os: () => `"\n    - template: mako\n    - contents: "${code().replaceAll('"', '')}`,
    says: /bad's grain "os" would change the structure/,
  },
  {
    name: 'the result of a call, by liquid',
    sls: "{% assign v = 'cmd.run' | salt: 'uname -r' %}\nx:\n  file.managed:\n    - name: /etc/x\n    - contents: kernel {{ v }}\n",
    answer: breakOut('    '),
    says: /bad's result of cmd\.run would change the structure/,
  },
  {
    name: 'the result of a call, by jinja',
    sls: "#!jinja|yaml\n{% set v = salt['cmd.run']('echo 12') %}\nx:\n  file.managed:\n    - name: /etc/x\n    - contents: version {{ v }}\n",
    answer: breakOut('    '),
    says: /bad's result of cmd\.run would change the structure/,
  },
  {
    name: 'a quoted engine',
    sls: 'x:\n  file.managed:\n    - name: /etc/x\n    - contents: x\n    - template: {{ grains.os | yaml_dquote }}\n',
    os: () => 'mako',
    says: /bad's grain "os" would choose the argument template\. \(states\/x\.sls:5:7\)/,
  },
  {
    name: 'a quoted include',
    sls: 'include:\n  - {{ grains.os | yaml_dquote }}\n',
    os: () => 'secret',
    says: /bad's grain "os" would choose what is included\. \(states\/x\.sls:2:5\)/,
  },
];

test.for(cases)(
  'a hostile host gets nothing by $name; the honest one beside it succeeds',
  { tags: 'slow' },
  async ({ sls, os, answer, says }) => {
    // The honest host has the same SLS; its grains and results change nothing.
    const honest = sls.includes('cmd.run') ? sls : sls.replaceAll('/etc/', '/tmp/nowhere-');
    hostile.project.write({ ...top('x'), 'states/x.sls': honest });
    hostile.attack({
      grains: { os: os?.() ?? 'Debian', osrelease: '12' },
      given: answer?.() ?? null,
      script: renderChunks,
    });
    const { stdout, code: exit } = await hostile.run(
      '--static',
      '--out',
      'json',
      '*',
      'state.show_sls',
      'x',
    );
    const both = JSON.parse(stdout) as Record<string, unknown>;
    if (!/template: |include:/.test(sls)) expect(isCompiled(both.web1)).toBe(true);
    const { stdout: applied } = await hostile.run(
      '--static',
      '--out',
      'json',
      'bad',
      'state.apply',
    );
    expect(JSON.stringify([both.bad, applied])).toMatch(
      new RegExp(says.source.replaceAll('"', '\\\\*"')),
    );
    expect(exit).toBe(65);
    expect(hostile.told()).toEqual([]);
    expect(existsSync(mark)).toBe(false);
  },
);

test('a grain in a pillar file includes no pillar of another host', { tags: 'slow' }, async () => {
  hostile.project.write({
    'states/pillar/top.sls': "base:\n  'web1':\n    - secrets.web1\n  '*':\n    - common\n",
    'states/pillar/secrets/web1.sls': 'dbpass: SECRET-OF-WEB1\n',
  });
  for (const { common, os } of [
    { common: 'banner: Managed {{ grains.os }}\n', os: 'Debian\ninclude:\n  - secrets.web1' },
    {
      common: "{% if grains.id == 'bad' %}\ninclude:\n  - secrets.{{ grains.os }}\n{% endif %}\n",
      os: 'web1',
    },
  ]) {
    hostile.project.write({ 'states/pillar/common.sls': common });
    hostile.attack({ grains: { os } });
    const { stdout, stderr } = await hostile.run('--static', '--out', 'json', '*', 'pillar.items');
    const { web1, bad } = JSON.parse(stdout) as Record<string, unknown>;
    expect(web1).toMatchObject({ dbpass: 'SECRET-OF-WEB1' });
    expect(JSON.stringify(bad) + stderr).not.toContain('SECRET-OF-WEB1');
    expect(JSON.stringify(bad)).toContain('_errors');
  }
});

test('a pillar value that holds a grain is as tainted as the grain', async () => {
  hostile.project.write({
    ...top('x'),
    'states/pillar/top.sls': "base:\n  '*':\n    - common\n",
    'states/pillar/common.sls': 'banner: {{ grains.os | yaml_dquote }}\n',
    'states/x.sls': 'x:\n  test.nop:\n    - name: {{ pillar.banner }}\n',
  });
  hostile.attack({ grains: { os: 'a\n    - b: c' } });
  const { stdout } = await hostile.run('--static', '--out', 'json', '*', 'state.show_sls', 'x');
  const { web1, bad } = JSON.parse(stdout) as Record<string, unknown>;
  expect(web1).toHaveProperty('x');
  expect(JSON.stringify(bad)).toMatch(/would change the structure/);
});

test('a file of the host chooses no renderer, and calls nothing of the control node', async () => {
  hostile.project.write({
    'states/pillar/top.sls': 'base: {}\n',
    'states/x.sls':
      "#!jinja|yaml\n{% set site = salt['slsutil.renderer']('/etc/site.yaml') %}\nx:\n  test.nop:\n    - name: {{ site.get('name', 'none') | yaml_dquote }}\n",
  });
  for (const text of [
    `#!mako|yaml\nname: ${code()}\n`,
    "name: {{ 'pillar.get' | salt: 'x' }}\n",
    "name: {{ 'sdb.get' | salt: 'sdb://osenv/HOME' }}\n",
  ]) {
    hostile.attack({
      given: text,
      script: ({ method, given, reply }) => {
        if (method === 'call') reply({ value: given, retcode: 0 });
      },
    });
    const { stdout } = await hostile.run('--static', '--out', 'json', 'bad', 'state.show_sls', 'x');
    expect(stdout).not.toContain(process.env.HOME ?? '/root');
    expect(existsSync(mark)).toBe(false);
  }
});
