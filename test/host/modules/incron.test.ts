import { describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { parseIncrontab, renderIncrontab } from '../../../src/modules/cron/incrontab.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';

test('a table is read and written as it was', () => {
  const text = '# mine\n/a IN_CREATE,IN_MOVE /bin/x $@ "$#"\n/c IN_ALL_EVENTS,loopable=true true\n';
  const table = parseIncrontab(text);
  expect(table).toEqual({
    pre: ['# mine'],
    crons: [
      { path: '/a', mask: 'IN_CREATE,IN_MOVE', cmd: '/bin/x $@ "$#"' },
      { path: '/c', mask: 'IN_ALL_EVENTS,loopable=true', cmd: 'true' },
    ],
  });
  expect(renderIncrontab(table)).toBe(text);
  expect(parseIncrontab('')).toEqual({ pre: [], crons: [] });
});

describe.skipIf(!which('incrontab') || !canRunApart())('the real incron', () => {
  test('jobs come, change and go', { timeout: 240_000 }, async () => {
    const told = await runApart(
      { incron: 'src/modules/cron/exec/incron.ts', state: 'src/modules/cron/states/incron.ts' },
      `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
      appendFileSync('/etc/incron.allow', 'root\\nnobody\\n');
      const take = '/bin/take $@/$#';
      await step('none', () => incron.raw_incron('nobody'));
      for (const user of ['nobody', 'system']) {
        await thrice(user + ' new', () => state.present('/srv/in', ['IN_CREATE'], take, { user }));
        await step(user + ' other', () => state.present('/srv/a', 'IN_MODIFY', 'true', { user }));
        await thrice(user + ' update', () => state.present('/srv/in', ['IN_CREATE', 'IN_MOVED_TO'], take, { user }));
        await step(user + ' table', () => incron.list_tab(user));
        await thrice(user + ' gone', () => state.absent('/srv/in', ['IN_MOVED_TO', 'IN_CREATE'], take, { user }));
        await step(user + ' left', () => incron.list_tab(user));
      }
      const named = { path: '/srv/named' };
      await thrice('named', () => state.present('Watch it', ['IN_CREATE'], 'true\\n', named));
      await step('named table', () => incron.list_tab('root'));
      await thrice('named gone', () => state.absent('Watch it', ['IN_CREATE'], 'true\\n', named));
      told.file = readFileSync('/etc/incron.d/salt', 'utf8');
      await step('bad mask', () => state.present('/srv/in', ['IN_WINGS'], take));
      await step('an option', () => incron.write_incron_file('nobody', '-r'));
      await step('as it was', () => incron.raw_incron('nobody'));
      writeFileSync('/var/new', '/srv/b IN_MODIFY true\\n');
      await step('a file', () => incron.write_incron_file('nobody', 'var/new'));
      await step('as the file', () => incron.raw_incron('nobody'));
      await step('blanks', () => state.present('/srv/a b', ['IN_MOVE'], take));
      await step('nobody there', () => state.present('/srv/in', ['IN_MOVE'], take, { user: 'tsalt-none' }));`,
      ['/var'],
    );
    expect(told.none).toBe('');
    for (const user of ['nobody', 'system']) {
      for (const name of ['new', 'update', 'gone']) {
        const changes = { [user]: '/srv/in' };
        expect(told[`${user} ${name} told`]).toMatchObject({ result: null, changes });
        expect(told[`${user} ${name}`]).toMatchObject({ result: true, changes });
        expect(told[`${user} ${name} again`]).toMatchObject({ result: true });
        expect(told[`${user} ${name} again`]).toHaveProperty('changes', {});
      }
      expect(told[`${user} other`]).toMatchObject({ result: true });
      expect(told[`${user} table`]).toEqual({
        pre: [],
        crons: [
          { path: '/srv/in', mask: 'IN_CREATE,IN_MOVED_TO', cmd: '/bin/take $@/$#' },
          { path: '/srv/a', mask: 'IN_MODIFY', cmd: 'true' },
        ],
      });
      expect(told[`${user} left`]).toHaveProperty('crons.length', 1);
    }
    for (const name of ['named', 'named gone']) {
      const changes = { root: 'Watch it' };
      expect(told[`${name} told`]).toMatchObject({ result: null, changes });
      expect(told[name]).toMatchObject({ result: true, changes });
      expect(told[`${name} again`]).toHaveProperty('changes', {});
    }
    expect(told['named table']).toHaveProperty('crons', [
      { path: '/srv/named', mask: 'IN_CREATE', cmd: 'true' },
    ]);
    expect(told.file).toBe('/srv/a IN_MODIFY true\n');
    expect(told['bad mask']).toMatchObject({
      result: false,
      comment: 'Invalid mask type: IN_WINGS',
    });
    expect(told).toMatchObject({
      'an option': false,
      'as it was': '/srv/a\tIN_MODIFY\ttrue\n',
      'a file': true,
      'as the file': '/srv/b\tIN_MODIFY\ttrue\n',
    });
    expect(told.blanks).toMatchObject({ result: false });
    expect(told['nobody there']).toMatchObject({ result: false });
  });
});
