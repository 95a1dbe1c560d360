import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { hostOpts, templateOpts } from '../../../src/control/facts/host-opts.ts';
import { toPlainDict } from '../../../src/data/values/value.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';
import { site } from '../../render/site.ts';

/** How public formulas find out whether `config.get` merges: only a minion's or salt-call's does. */
const asked = `#!jinja|yaml
{%- set masters = opts | traverse('__master_opts__:__cli', '') %}
{%- if opts.get('__cli', '') == 'salt-call' %}
cli: {{ 'ssh' if masters in ('salt-ssh', 'salt-master') else 'local' }}
{%- else %}
cli: unknown
{%- endif %}
`;

test('formulas learn from the opts that config.get merges', async () => {
  const { path, remove } = scratch();
  const config = loadConfig({ cwd: path, env: {} });
  const opts = templateOpts(config, hostOpts(config, aHost()));
  remove();
  const { data } = site({ opts: toPlainDict(opts) });
  expect(await data(asked)).toEqual({ cli: 'local' });
});
