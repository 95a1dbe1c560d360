import { parseArgs } from 'node:util';
import type { Outcome } from './replay.ts';
import { replayAll } from './replay-all.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, only: { type: 'string' } },
});
const [dir] = positionals;
if (dir === undefined) {
  console.error('Usage: npm run golden -- DIR [--json] [--only TEXT]');
  process.exit(64);
}

const outcomes = await replayAll(dir, { only: values.only });
const count = (list: readonly Outcome[], status: Outcome['status']): number =>
  list.filter(one => one.status === status).length;
const tally = (list: readonly Outcome[]) => ({
  equal: count(list, 'equal'),
  divergent: count(list, 'divergent'),
  failed: count(list, 'failed'),
});
const topics = Object.fromEntries(
  [...new Set(outcomes.map(({ topic }) => topic))].map(topic => [
    topic,
    tally(outcomes.filter(one => one.topic === topic)),
  ]),
);

if (values.json === true)
  console.log(JSON.stringify({ total: tally(outcomes), topics, outcomes }, null, 2));
else {
  for (const { id, differences, note } of outcomes.filter(one => one.status === 'failed')) {
    console.log(`FAILED ${id}${note === undefined ? '' : `: ${note}`}`);
    for (const { path, expected, actual } of differences) {
      console.log(`  ${path}`);
      console.log(`    - ${JSON.stringify(expected)}`);
      console.log(`    + ${JSON.stringify(actual)}`);
    }
  }
  const row = (name: string, { equal, divergent, failed }: ReturnType<typeof tally>): void =>
    console.log(
      `${name.padEnd(16)} ${[equal, divergent, failed].map(n => String(n).padStart(9)).join(' ')}`,
    );
  console.log(
    `${'topic'.padEnd(16)} ${['equal', 'divergent', 'failed'].map(t => t.padStart(9)).join(' ')}`,
  );
  for (const [topic, counts] of Object.entries(topics)) row(topic, counts);
  row('total', tally(outcomes));
}
process.exit(count(outcomes, 'failed') > 0 ? 1 : 0);
