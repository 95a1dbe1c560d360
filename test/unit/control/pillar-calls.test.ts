import { expect, onTestFinished, test } from 'vitest';
import { makeSite } from '../../wrapper/site.ts';

const siteWith = async (file: string, config = '') => {
  const site = await makeSite({
    'tsalt.yaml': config,
    'pillar/top.sls': "base: {'*': [a]}\n",
    'pillar/a.sls': file,
  });
  onTestFinished(site.close);
  return site;
};

test('a file of the pillar that asks for the pillar sees as little of it as the file itself', async () => {
  const { call } = await siteWith(`#!jinja|yaml
got: {{ salt['pillar.get']('got', 'default') }}
items: {{ salt['pillar.items']() | length }}
config: {{ salt['config.get']('config', 'none') }}
refreshed: {{ salt['saltutil.refresh_pillar']() }}
`);
  expect(await call('pillar.items')).toEqual({
    got: 'default',
    items: 0,
    config: 'none',
    refreshed: true,
  });
});

test('Liquid behaves alike, and with ext_pillar_first it sees the result of that', async () => {
  const { call } = await siteWith(
    "got: {{ 'pillar.get' | salt: 'early', 'default' }}\n",
    "ext_pillar_first: true\next_pillar: [{cmd_yaml: [echo, 'early: bird']}]\n",
  );
  expect(await call('pillar.get', ['got'])).toBe('bird');
});
