import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes, type StateCase } from '../../states/three-runs.ts';

/** The output and merges of Salt 3006.9, serializer by serializer. */
let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const plistHead =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n';

const cases: StateCase[] = [
  ...(
    [
      ['json', { u: 'é' }, [], '{\n  "u": "é"\n}\n'],
      ['json', { u: 'é' }, [{ ensure_ascii: true }], '{\n  "u": "\\u00e9"\n}\n'],
      ['json', { b: 1, a: 2 }, [{ indent: null }], '{"a": 2,"b": 1}\n'],
      [
        'json',
        { b: 1, a: 2 },
        [{ indent: null }, { separators: [', ', ':'] }, { sort_keys: false }],
        '{"b":1, "a":2}\n',
      ],
      ['yaml', { u: 'é', l: [1] }, [], 'l:\n- 1\nu: "\\xE9"\n'],
      ['yaml', { u: 'é' }, [{ allow_unicode: true }], 'u: é\n'],
      ['yaml', { b: 1, a: 2 }, [{ sort_keys: false }], 'b: 1\na: 2\n'],
      ['yaml', { b: { c: 1 } }, [{ explicit_start: true }], '---\nb:\n  c: 1\n'],
      [
        'yaml',
        { b: { c: 1 } },
        [{ explicit_start: true }, { default_flow_style: true }, { indent: 4 }],
        '--- {b: {c: 1}}\n',
      ],
      ['python', { u: 1, n: null }, [], "{'n': None, 'u': 1}\n"],
      ['toml', { s: { b: 'x' } }, [], '[s]\nb = "x"\n\n'],
      ['configparser', { s: { b: 'x' } }, [], '[s]\nb = x\n\n\n'],
      ['toml', { n: 1e-7 }, [], 'n = 1e-7\n\n'],
      [
        'plist',
        { n: 1e-7 },
        [],
        `${plistHead}<dict>\n\t<key>n</key>\n\t<real>1e-07</real>\n</dict>\n</plist>\n`,
      ],
      [
        'python',
        { key: 'value of some length', other: ['one', 'two', 'three'], last: { a: 1, b: null } },
        [],
        "{'key': 'value of some length',\n 'last': {'a': 1, 'b': None},\n 'other': ['one', 'two', 'three']}\n",
      ],
      ['yamlex', { b: { d: 1, c: [1, 2] }, a: 'é' }, [], 'b:\n  d: 1\n  c: [1, 2]\na: "\\xE9"\n'],
      ['yamlex', { b: 1, a: [1] }, [{ default_flow_style: true }], '{b: 1, a: [1]}\n'],
      ['keyvalue', { A: 'x y', B: true, C: null }, [], 'A=x y\nB=True\nC=None\n'],
      [
        'keyvalue',
        [
          ['a', "it's"],
          ['b', ''],
        ],
        [{ separator: ': ' }, { quoting: true }, { line_ending: '\r\n' }],
        `a: 'it'"'"'s'\r\nb: ''\n`,
      ],
    ] as const
  ).map(
    ([serializer, dataset, serializer_opts, text]): StateCase => ({
      title: `serialize writes ${serializer} ${JSON.stringify(dataset)} with ${JSON.stringify(serializer_opts)}`,
      fun: 'file.serialize',
      name: 'ROOT/f',
      args: [{ serializer, dataset, serializer_opts }],
      after: { f: text },
    }),
  ),
  ...(
    [
      [
        'toml',
        'a = "1.0 # x"\nl = [0.5, 2]\n[s]\nold = true\n',
        { s: { b: 'x' } },
        'a = "1.0 # x"\nl = [ 0.5, 2,]\n\n[s]\nold = true\nb = "x"\n\n',
        { s: { b: { old: null, new: 'x' } } },
      ],
      [
        'plist',
        `${plistHead}<dict>\n\t<!-- x -->\n\t<key>a &amp; b</key><true/>\n<key>l</key><array><integer>-7</integer><real>1.5</real><string/></array></dict></plist>\n`,
        { s: { b: 'x' } },
        `${plistHead}<dict>\n\t<key>a &amp; b</key>\n\t<true/>\n\t<key>l</key>\n\t<array>\n\t\t<integer>-7</integer>\n\t\t<real>1.5</real>\n\t\t<string></string>\n\t</array>\n\t<key>s</key>\n\t<dict>\n\t\t<key>b</key>\n\t\t<string>x</string>\n\t</dict>\n</dict>\n</plist>\n`,
        { s: { old: null, new: { b: 'x' } } },
      ],
      [
        'yaml',
        'text: |\n  one\n  two\nbase: &b {x: 1}\nmore: *b\n',
        { n: 1 },
        "base:\n  x: 1\nmore:\n  x: 1\nn: 1\ntext: 'one\n\n  two\n\n  '\n",
        { n: { old: null, new: 1 } },
      ],
      [
        'yamlex',
        'l: !aggregate a\nl: !aggregate b\n',
        { n: 1 },
        'l: [a, b]\nn: 1\n',
        { n: { old: null, new: 1 } },
      ],
      [
        'keyvalue',
        'A="x y"\nB=2\n',
        { B: '3' },
        "A='x y'\nB=3\n",
        { B: { old: '2', new: '3' } },
        { deserializer_opts: [{ quoting: false }], serializer_opts: [{ quoting: true }] },
      ],
    ] as const
  ).map(
    ([serializer, before, dataset, text, diff, options]): StateCase => ({
      title: `serialize merges into ${serializer}`,
      fun: 'file.serialize',
      before: { f: before },
      name: 'ROOT/f',
      args: [{ serializer, dataset, merge_if_exists: true, ...options }],
      changes: { diff },
      after: { f: text },
    }),
  ),
];

test.each(cases)('$title: test mode and a second run change nothing', async item =>
  runThreeTimes(host, item),
);

const refusals = [
  ['msgpack', '', {}, /^merge_if_exists is not supported for the msgpack serializer$/],
  ['python', '', {}, /^merge_if_exists is not supported for the python serializer$/],
  ['toml', 'a = 1.0\n', {}, /the value 1\.0 cannot be stored without loss/],
  ['toml', 'a = [1, 2024-05-01]\n', {}, /the value 2024-05-01 cannot be stored without loss/],
  ['toml', 'a = \n', {}, /^Failed to deserialize existing data: /],
  ['plist', 'bplist00', {}, /binary property lists are not read/],
  ['plist', `${plistHead}<dict><key>a</key><real>1.0</real></dict></plist>`, {}, /1\.0 cannot/],
  [
    'plist',
    `${plistHead}<dict><key>a</key></dict></plist>`,
    {},
    /line 4 .*<\/dict>|closes nothing/,
  ],
  ['plist', '', { serializer_opts: [{ fmt: 'FMT_BINARY' }] }, /fmt FMT_BINARY is not supported/],
  ['keyvalue', 'x\n', {}, /the line 'x' has no '='/],
  ['json', '{}', { deserializer_opts: [{ strict: false }] }, /^deserializer_opts strict not supp/],
  ['yaml', 'a: [\n', {}, /^Failed to deserialize existing data: /],
] as const;

test.each(refusals)(
  '%s of %j refuses what it cannot keep',
  async (serializer, before, options, says) => {
    if (before !== '') host.write('f', before);
    else if (serializer !== 'plist') host.write('f', 'x');
    const result = await host.state('file.serialize', join(host.root, 'f'), {
      serializer,
      dataset: { b: 1 },
      merge_if_exists: true,
      ...options,
    });
    expect(result).toMatchObject({ result: false, changes: {} });
    expect(result.comment).toMatch(says);
    if (before !== '') expect(host.file('f')).toBe(before);
  },
);

test('MessagePack is written in the shortest forms, and as bytes', async () => {
  const dataset = {
    list: [1, -1, 2.5, null, true, false, 127, 128, 300, 70_000, 2 ** 40],
    down: [-32, -33, -128, -129, -40_000, -(2 ** 33)],
    text: ['x'.repeat(31), 'y'.repeat(32), 'é', 'z'.repeat(300)],
    long: Array.from({ length: 20 }, (_, index) => index),
    deep: { a: { b: [] } },
  };
  const run = (how: 'state' | 'test' = 'state') =>
    host[how]('file.serialize', join(host.root, 'f'), { dataset, serializer: 'msgpack' });
  expect(await run('test')).toMatchObject({ result: null });
  expect(await run()).toMatchObject({ result: true, changes: { diff: 'New file' } });
  expect(await run()).toMatchObject({ result: true, changes: {} });
  const bytes = readFileSync(join(host.root, 'f'));
  expect(bytes.subarray(0, 33).toString('hex')).toBe(
    '85a46c6973749b01ffcb4004000000000000c0c3c27fcc80cd012cce00011170cf',
  );
  const python = `import sys,json\ntry:\n import msgpack\nexcept ImportError:\n print('{}')\nelse:\n b=open(sys.argv[1],'rb').read(); d=msgpack.unpackb(b); assert msgpack.packb(d)==b; print(json.dumps(d))`;
  const read = execFileSync('python3', ['-c', python, join(host.root, 'f')], { encoding: 'utf8' });
  if (read.trim() !== '{}') expect(JSON.parse(read)).toEqual(dataset);
});
