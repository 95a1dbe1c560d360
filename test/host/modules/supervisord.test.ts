// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as supervisord from '../../../src/modules/supervisord/exec/supervisord.ts';
import * as state from '../../../src/modules/supervisord/states/supervisord.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

describe.skipIf(!which('supervisord'))('a real supervisor', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-supervisor-'));
  const where = { conf_file: join(folder, 'supervisord.conf') };
  const context = contextOf({ supervisord });
  let daemon: ChildProcess;
  const base = `[unix_http_server]
file=${folder}/sock
[supervisord]
logfile=${folder}/log
pidfile=${folder}/pid
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://${folder}/sock
`;
  const program = (name: string, more = ''): string =>
    `[program:${name}]\ncommand=/bin/sleep 600 ; for long\nstartsecs=0\nautostart=false\n${more}`;
  const configure = (...programs: string[]): void =>
    writeFileSync(where.conf_file, [base, ...programs].join('\n'));
  const status = (): ReturnType<typeof supervisord.status> =>
    within(context, () => supervisord.status(null, where));
  const stateOf = async (name: string): Promise<string | undefined> =>
    (await status())[name]?.state;
  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = JSON.stringify(Object.entries(await status()).map(([k, v]) => [k, v.state]));
    const told = await within(testing(context), work);
    expect(told.result, String(told.comment)).toBe(null);
    expect(JSON.stringify(Object.entries(await status()).map(([k, v]) => [k, v.state]))).toBe(
      before,
    );
    const done = await within(context, work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes)).toHaveLength(1);
    const again = await within(context, work);
    expect(again).toEqual({ ...again, result: true, changes: {} });
    return done;
  };

  beforeAll(async () => {
    configure(program('web'));
    daemon = spawn('supervisord', ['--nodaemon', '-c', where.conf_file], { stdio: 'ignore' });
    for (let tries = 0; !existsSync(join(folder, 'sock')); tries += 1) {
      if (tries > 500 || daemon.exitCode !== null) throw new Error('no supervisor');
      await setTimeout(200);
    }
  }, 240_000);
  afterAll(async () => {
    daemon?.kill('SIGTERM');
    if (daemon?.exitCode === null) await once(daemon, 'exit');
    removeFolder(folder);
  }, 240_000);

  test('a program is started, restarted when something it watches changed, and stopped', async () => {
    expect(await stateOf('web')).toBe('STOPPED');
    const started = await settles(() => state.running('web', where));
    expect(started.changes).toEqual({ web: 'Starting: web' });
    expect(await stateOf('web')).toBe('RUNNING');
    const pid = (await status()).web?.reason;
    const watch = (): Promise<StateReturn> => state.mod_watch('web', { sfun: 'running', ...where });
    expect(await within(testing(context), watch)).toMatchObject({ result: null });
    expect((await status()).web?.reason.split(',')[0]).toBe(pid?.split(',')[0]);
    expect((await within(context, watch)).changes).toEqual({ web: 'Restarting service: web' });
    expect((await status()).web?.reason.split(',')[0]).not.toBe(pid?.split(',')[0]);
    await settles(() => state.dead('web', where));
    expect(await stateOf('web')).toBe('STOPPED');
    expect(await within(context, () => state.dead('nope', where))).toMatchObject({
      result: true,
      comment: "Service nope doesn't exist",
    });
  });

  test('new programs and groups in the configuration are added, and changed ones updated', async () => {
    const group = `${program('a')}\n${program('b')}\n[group:pair]\nprograms=a,b\n`;
    configure(program('web'), group);
    const added = await settles(() => state.running('pair:*', where));
    expect(added.changes).toEqual({ 'pair:': 'Adding service: pair: Starting: pair:' });
    expect(await stateOf('pair:a')).toBe('RUNNING');
    expect(await stateOf('pair:b')).toBe('RUNNING');
    await within(context, () => supervisord.stop('pair:a', where));
    const told = await within(testing(context), () => state.running('pair:', where));
    expect(told.comment).toBe('The following services will be started: pair:a');
    await settles(() => state.running('pair:', where));
    await settles(() => state.dead('pair:', where));
    configure(program('web', 'environment=A="1"\n'), group);
    const update = { ...where, update: true };
    const updated = await within(context, () => state.running('web', update));
    expect(updated.changes.web).toContain('Updating supervisor');
    expect(await within(context, () => state.running('web', update))).toMatchObject({
      result: true,
      changes: {},
    });
    expect(await stateOf('web')).toBe('RUNNING');
    await within(context, () => supervisord.restart('web', where));
    expect(await within(context, () => supervisord.remove('pair', where))).toContain('removed');
    expect(await stateOf('pair:a')).toBe(undefined);
  });

  test('unsupported functions are reported', async () => {
    const none = await within(context, () => state.running('nope', where));
    expect(none).toMatchObject({ result: false, changes: {} });
    expect(none.comment).toContain('no such process/group');
    configure(program('web'), '[program:bad]\ncommand=/no/such/program\nautostart=false\n');
    const bad = await within(context, () => state.running('bad', where));
    expect(bad).toMatchObject({ result: false, changes: { bad: 'Adding service: bad' } });
    expect(bad.comment).toMatch(/bad: ERROR/);
    const unreachable = { conf_file: join(folder, 'none.conf') };
    writeFileSync(unreachable.conf_file, `[supervisorctl]\nserverurl=unix://${folder}/none\n`);
    const down = await within(context, () => state.running('web', unreachable));
    expect(down).toMatchObject({ result: false });
    expect(down.comment).toContain('supervisorctl status failed');
    const missing = { bin_env: join(folder, 'venv') };
    expect((await within(context, () => state.running('web', missing))).comment).toContain(
      'name its program or virtual environment in bin_env',
    );
  });

  test('settings and states are returned', async () => {
    const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
    expect(await run(() => supervisord.options('web', where))).toEqual({
      command: '/bin/sleep 600',
      startsecs: 0,
      autostart: false,
    });
    await expect(run(() => supervisord.options('nope', where))).rejects.toThrow("'nope' not found");
    await run(() => supervisord.start('web', where));
    const expected_state = 'RUNNING';
    expect(await run(() => supervisord.status_bool('web', { ...where, expected_state }))).toBe(
      true,
    );
    expect(await run(() => supervisord.status_bool('nope', where))).toBe(false);
    expect(await run(() => supervisord.custom('pid web', where))).toMatch(/^\d+$/);
    expect(await run(() => supervisord.status_raw('web', where))).toMatch(/^web\s+RUNNING/);
    await run(() => supervisord.stop('web', where));
  });
});
