import { expect, test } from 'vitest';
import { packMeta, unpackMeta } from '../../../src/bundle/meta-file.ts';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import type { ModuleMeta } from '../../../src/protocol/meta.ts';

test('the metadata of modules is the same after writing and reading', () => {
  const modules: ModuleMeta[] = [
    ...builtinMetadata().slice(0, 20),
    {
      kind: 'exec',
      file: 'grüße',
      path: '/srv/_modules/grüße\n.ts',
      builtin: false,
      functions: [
        {
          name: 'say',
          exportName: 'say',
          signature: { positional: [] },
          doc: 'two\nlines – €',
          line: 3,
        },
      ],
    },
    { kind: 'state', file: 'lost', path: 'lost.ts', builtin: false, functions: [], broken: 'why' },
  ];

  const read = unpackMeta(Buffer.from(packMeta(modules)));

  expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(modules)));
  expect(read.map(({ file }) => file)).toEqual(modules.map(({ file }) => file));
  expect(unpackMeta(Buffer.from(packMeta([])))).toEqual([]);
});
