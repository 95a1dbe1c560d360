import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadFormat } from '../../../src/output/format.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { mix, outputOptions } from '../../output/recorded.ts';

const show = async (name: string, results: HostResult[], more = {}): Promise<string> =>
  (await loadFormat(name)).format(results, { ...outputOptions, ...more });

const gave = (value: Plain, id = 'host'): HostResult => ({ id, fun: 'x.y', value, retcode: 0 });
const ran: HostResult = { id: 'host', fun: 'state.apply', states: mix, retcode: 2 };
const down: HostResult = {
  id: 'down',
  fun: 'test.ping',
  retcode: 255,
  failure: {
    kind: 'unreachable',
    code: 'connect',
    message: 'Connection refused by 127.0.0.1:2239.',
  },
};

test('nested shows what salt-ssh 3006.9 showed', async () => {
  expect(await show('nested', [gave(true)])).toBe('host:\n    True');
  expect(await show('nested', [gave({ retcode: 3, stderr: '', stdout: 'hi' })])).toBe(
    'host:\n    ----------\n    retcode:\n        3\n    stderr:\n    stdout:\n        hi',
  );
  expect(await show('nested', [gave(["No matching sls found for 'nosuch' in env 'base'"])])).toBe(
    "host:\n    - No matching sls found for 'nosuch' in env 'base'",
  );
});

test('nested marks lists in lists and lists of dictionaries', async () => {
  expect(await show('nested', [gave({ b: [[1, 2], { k: null }], a: 1.5 })])).toBe(
    [
      'host:',
      '    ----------',
      '    a:',
      '        1.5',
      '    b:',
      '        |_',
      '          - 1',
      '          - 2',
      '        |_',
      '          ----------',
      '          k:',
      '              None',
    ].join('\n'),
  );
});

test('a host without an answer is shown by its cause', async () => {
  expect(await show('nested', [down])).toBe('down:\n    Connection refused by 127.0.0.1:2239.');
  expect(JSON.parse(await show('json', [down]))).toEqual({
    down: 'Connection refused by 127.0.0.1:2239.',
  });
});

test('json has four columns of indent, one line, or sorted keys', async () => {
  expect(await show('json', [gave({ b: 1, a: [] })])).toBe(
    '{\n    "host": {\n        "b": 1,\n        "a": []\n    }\n}',
  );
  expect(await show('json', [gave({ b: 1, a: [] })], { indent: -1 })).toBe(
    '{"host":{"b":1,"a":[]}}',
  );
  expect(await show('json', [gave({ b: 1, a: 2 })], { indent: 'pretty' })).toContain(
    '"a": 2,\n        "b": 1',
  );
});

test('json of any data is that data, and no terminal obeys it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async value => {
      const text = await show('json', [gave(value as Plain)]);
      expect(JSON.parse(text)).toEqual({ host: JSON.parse(JSON.stringify(value)) });
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test('text outputters let no control character through', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async text => {
      for (const name of ['nested', 'txt', 'raw', 'newline_values_only', 'table', 'markdown'])
        expect(await show(name, [gave({ [text]: text }, text), gave(text)])).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/,
        );
    }),
  );
});

test('txt puts the host before each line', async () => {
  expect(await show('txt', [gave('a\nb'), gave({ k: [true] }, 'other')])).toBe(
    "host: a\nhost: b\nother: {'k': [True]}",
  );
});

test('raw is a Python literal', async () => {
  expect(await show('raw', [gave({ a: [1, null, "it's", 'a\'"b\n'] })])).toBe(
    "{'host': {'a': [1, None, \"it's\", 'a\\'\"b\\n']}}",
  );
});

test('newline_values_only has values alone', async () => {
  expect(await show('newline_values_only', [gave(['1', '2']), gave(8, 'x')])).toBe('1\n2\n8');
});

test('quiet is silent', async () => {
  expect(await show('quiet', [ran])).toBe('');
});

test('table draws lists of dictionaries', async () => {
  expect(
    await show('table', [
      gave([
        { id: 1, full_name: 'x' },
        { id: 22, full_name: 'y z' },
      ]),
    ]),
  ).toBe(
    [
      'host:',
      '----------',
      '    ------------------',
      '    | Full Name | Id |',
      '    ------------------',
      '    |     x     | 1  |',
      '    ------------------',
      '    |    y z    | 22 |',
      '    ------------------',
    ].join('\n'),
  );
});

test('profile lists states by duration', async () => {
  const text = await show('profile', [ran]);
  expect(text.split('\n').filter(line => line.includes('cmd.run'))).toEqual([
    '    | echo hi; echo err >&2 |          cmd.run          |        0.2500 |',
  ]);
  expect(text.indexOf('0.2500')).toBeLessThan(text.indexOf('2.0000'));
});

test('junit has a case for each state and counts failures', async () => {
  const text = await show('junit', [ran, down]);
  expect(text).toContain('<testsuites name="tsalt-ssh" tests="7" failures="2" errors="1">');
  expect(text).toContain('<testsuite name="host" tests="6" failures="2" errors="0" time="0.008">');
  expect(text).toContain('<failure message="One or more requisite failed: mix.bad">');
  expect(text).toContain('name="cmd.run run"');
  expect(text).toContain('<error type="connect" message="Connection refused by 127.0.0.1:2239.">');
});

test('junit is well-formed whatever a host says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async text => {
      const xml = await show('junit', [{ ...gave(text), retcode: 1 }]);
      const body = xml.replace(/<\/?[a-z]+(?: [a-z]+="[^"<]*")*\/?>|<\?xml [^?]*\?>/g, '');
      expect(body).not.toMatch(/[<>]/);
      expect(body.replace(/&(amp|lt|gt|quot|#\d+);/g, '')).not.toContain('&');
    }),
  );
});

test('markdown shows counts, failures and changes', async () => {
  const text = await show('markdown', [ran, down]);
  expect(text).toContain('| host | failed | 1 | 3 | 0 | 2 |');
  expect(text).toContain('| down | connect | 0 | 0 | 0 | 0 |');
  expect(text).toContain('**Failed** test.fail\\_without\\_changes bad');
  expect(text).toContain('```diff\nNew file\n```');
});

test('a state with no_log shows its outcome and nothing of its secrets', async () => {
  const secret = {
    ...mix['file_|-f_|-/srv/mix_|-managed']!,
    no_log: true,
    comment: 'wrote hunter2',
    changes: { diff: 'hunter2' },
  };
  const result = { ...ran, states: { 'file_|-f_|-/srv/mix_|-managed': secret } };
  for (const name of ['highstate', 'json', 'nested', 'raw', 'txt', 'junit', 'markdown', 'table'])
    expect(await show(name, [result])).not.toContain('hunter2');
  expect(await show('highstate', [result])).toContain('Succeeded: 1 (changed=1)');
});

test('an unknown outputter is nested', async () => {
  expect(await show('constructor', [gave(1)])).toBe('host:\n    1');
});

test('large results of a host break no outputter', async () => {
  const ticks = '` x'.repeat(200_000);
  const fence = (await show('markdown', [gave(ticks)])).split('\n').find(one => /^`+$/.test(one));
  expect(fence).toBe('```');
  expect(await show('table', [gave([Array(200_000).fill(1)])])).toContain('| 1 | 1 |');
  const own = Array.from({ length: 5000 }, (_, at): Plain => ({ [`k${at}`]: at }));
  expect(await show('table', [gave(own)])).toContain("| {'k4999': 4999} |");
  const deep = Array.from({ length: 190 }).reduce<Plain>(inner => ({ a: inner }), 'x');
  await expect(show('nested', [gave(Array(1000).fill(deep))])).rejects.toThrow(/100 million/);
});
