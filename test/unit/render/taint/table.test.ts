import { expect, test } from 'vitest';
import { wholeRange } from '../../../../src/data/taint.ts';
import { TaintTable } from '../../../../src/render/taint/taint-table.ts';

test.each<[string, (table: TaintTable, text: string) => unknown]>([
  ['a whole string', (table, text) => table.of(text)],
  ['a part of one', (table, text) => table.partsOf(`<${text}>`)],
])('data that is heard once it is used taints %s from then on', (_, find) => {
  const table = new TaintTable('web1');
  let isUsed = false;
  let times = 0;
  table.hearOnceUsed(
    () => isUsed,
    () => {
      times += 1;
      table.hear({ role: ['database'] }, 'grain "role"');
    },
  );
  expect(find(table, 'database')).toBeUndefined();
  expect(times).toBe(0);

  isUsed = true;

  for (const text of ['database', 'role', 'database'])
    expect(find(table, text)).toMatchObject([{ source: 'grain "role"' }]);
  expect(times).toBe(1);
});

test('data that is not used yet does not hide what is tainted otherwise', () => {
  const table = new TaintTable('web1');
  table.hearOnceUsed(
    () => false,
    () => table.hear('database', 'grain "role"'),
  );
  table.hear('database', 'result of cmd.run');
  table.learn('my database', wholeRange('my database', 'result of cmd.run'));

  expect(table.of('database')).toMatchObject([{ source: 'result of cmd.run' }]);
  expect(table.of('my database')).toMatchObject([{ source: 'result of cmd.run' }]);
});
