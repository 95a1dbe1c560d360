import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Data } from '../../../src/data/values/value.ts';
import { TsaltError } from '../../../src/protocol/error.ts';
import { isAddress, isId, isUser, readAddress } from '../../../src/roster/address.ts';
import { readSshArguments } from '../../../src/roster/backends/ansible-ssh-args.ts';
import { expand } from '../../../src/roster/backends/ansible-variables.ts';
import { entriesOf } from '../../../src/roster/backends/flat.ts';
import { parseIniInventory } from '../../../src/roster/backends/inventory-ini.ts';
import { hostVariables } from '../../../src/roster/backends/inventory-variables.ts';
import { parseSshConfig } from '../../../src/roster/backends/sshconfig.ts';
import { checkHost } from '../../../src/roster/check.ts';
import { readSshOption } from '../../../src/roster/ssh-options.ts';
import { loadYaml } from '../../../src/yaml/load.ts';

/** Inputs for each reader: 100000 in CI, or as many as `TSALT_FUZZ_RUNS` says. */
const numRuns = Number(process.env.TSALT_FUZZ_RUNS ?? (process.env.CI ? 100_000 : 2000));
vi.setConfig({ testTimeout: 30_000 + numRuns * 5 });
const seed = 20261121;

const pieces = fc.constantFrom(
  ...[
    'a',
    'host',
    'user',
    'port',
    'passwd',
    'proxy_jump',
    'ssh_options',
    '__proto__',
    'constructor',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ': ',
    '=',
    '\n',
    '  ',
    '- ',
    '"',
    "'",
    '#',
    '~',
    '\u0000',
    '|',
    '*',
    '!',
    '&x',
  ],
  ...[
    'Host ',
    'Match ',
    'Include ',
    'ProxyCommand',
    '-o',
    '[web]',
    '[a:children]',
    '[1:3]',
    '22',
    '@',
  ],
);
const hostile = fc
  .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 25 })
  .map(parts => parts.join(''));

const survives = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(TsaltError);
    return undefined;
  }
};

test('any flat roster yields safe hosts or a TsaltError', () => {
  fc.assert(
    fc.property(hostile, text => {
      const entries = survives(() => entriesOf(loadYaml(text, { file: '/r' }), '/r')) ?? [];
      for (const entry of entries) {
        const checked = survives(() => checkHost([entry], [{ dict: new Map(), file: '/c' }]));
        if (checked === undefined) continue;
        const { id, host, user, transport } = checked.host;
        expect([isId(id), isUser(user)]).toEqual([true, true]);
        if (transport === undefined || /ssh/.test(transport)) expect(isAddress(host)).toBe(true);
      }
    }),
    { numRuns, seed },
  );
});

test('any inventory and any ssh configuration is read or refused', () => {
  fc.assert(
    fc.property(hostile, text => {
      const inventory = survives(() => parseIniInventory(text, '/inventory'));
      if (inventory) for (const name of inventory.hosts.keys()) hostVariables(inventory)(name);
      survives(() => parseSshConfig(text.replace(/include/gi, ''), '/config'));
      expect(({} as Record<string, unknown>).hosts).toBeUndefined();
    }),
    { numRuns, seed },
  );
});

test('any arguments for ssh and any template of an inventory are read or refused', () => {
  const words = fc
    .array(
      fc.oneof(
        fc.constantFrom('-o', '-J', 'ProxyCommand=', 'ssh -W %h:%p ', '-p 1 ', "'", '"', '\\'),
        fc.constantFrom('{{', '}}', ' a ', '|default(', "lookup('env', 'A')", '{%'),
        pieces,
      ),
      { maxLength: 12 },
    )
    .map(parts => parts.join(''));
  fc.assert(
    fc.property(words, text => {
      const { jump, options } = readSshArguments([text]);
      if (jump !== undefined) expect(jump).not.toMatch(/^-|[\s;|&`<>()'"\\]/);
      for (const option of options) expect(option).not.toMatch(/^-|command|[\u0000-\u001f]/i);
      const vars = new Map<string, Data>([['a', text]]);
      const answer = survives(() => expand(text, 'a', vars, { A: 'x' }, { file: '/i' }));
      if (typeof answer === 'string') expect(answer).not.toMatch(/\{\{|\{%/);
    }),
    { numRuns, seed },
  );
});

test('no address or option lets a command through', () => {
  fc.assert(
    fc.property(hostile, text => {
      const address = readAddress(text);
      if (address)
        expect(`${address.user ?? ''}${address.host}`).not.toMatch(/^-|[\s;|&`<>()'"\\]/);
      const option = readSshOption(text);
      if ('value' in option) expect(option.value).not.toMatch(/^-|command|[\u0000-\u001f]/i);
    }),
    { numRuns, seed },
  );
});
