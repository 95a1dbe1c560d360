import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = { result: boolean | null; changes: Record<string, unknown>; comment: string };
type States = Record<string, StateResult>;

const missing = labMissing();
const lab = createLab(11);
const host = 'shop';

/** Returns a server's response to a line. */
const ask = (address: string, port: number, line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, address, () => socket.write(line));
    socket.setTimeout(10_000, () => socket.destroy(new Error(`${address}:${port} is silent`)));
    socket.once('data', data => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', reject);
  });

describe.skipIf(missing)(
  `a web machine of Debian's own nginx and redis${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;
    let address = '';
    let main = '';

    beforeAll(async () => {
      project = await startLabProject(
        lab,
        { [host]: { user: 'deploy', sudo: true } },
        {
          from: new URL('../fixtures/lab-servers', import.meta.url),
          settings: 'pillar_roots: {base: [pillar]}\n',
        },
      );
      address = project.addresses[host] ?? '';
      await lab.bring(host, 'nginx', 'redis-server');
    });

    afterAll(() => project?.close());

    const run = async (code: number, ...args: string[]): Promise<States> => {
      const told = await project.run(host, 'state.apply', '--static', '--out', 'json', ...args);
      expect(told.code, told.stdout + told.stderr).toBe(code);
      return (JSON.parse(told.stdout) as Record<string, States>)[host] ?? {};
    };
    const idOf = (tag: string): string => tag.split('_|-').slice(0, 2).join(' ');
    const changed = (states: States): string[] =>
      Object.entries(states)
        .filter(([, { changes }]) => Object.keys(changes).length > 0)
        .map(([tag]) => idOf(tag))
        .sort();
    const edit = (path: string, from: string, to: string): void => {
      const text = readFileSync(join(project.dir, path), 'utf8');
      expect(text).toContain(from);
      project.write({ [path]: text.replace(from, to) });
    };
    const mainPid = async (unit: string): Promise<string> =>
      (await lab.sh(host, 'systemctl', 'show', '-P', 'MainPID', unit)).trim();
    const reloads = async (unit: string): Promise<number> =>
      (await lab.sh(host, 'journalctl', '-u', unit, '-o', 'cat', '--no-pager'))
        .split('\n')
        .filter(line => line.startsWith('Reloaded')).length;
    const get = async (port: number): Promise<string> => {
      const answer = await fetch(`http://${address}:${port}/`);
      return `${answer.headers.get('x-greeting')}: ${(await answer.text()).trim()}`;
    };

    test('is made from a bare one, as test mode said', async () => {
      const predicted = await run(0, 'test=True');
      expect(Object.values(predicted).map(({ result }) => result)).not.toContain(false);
      expect(
        await lab.sh(host, 'sh', '-c', 'ls -d /etc/nginx /etc/redis 2>&1 || true'),
      ).not.toMatch(/^\//m);
      const made = await run(0);
      const foreseen = Object.entries(predicted).filter(([, { result }]) => result === null);
      const surprises = changed(made).filter(id => !foreseen.some(([tag]) => idOf(tag) === id));
      expect(surprises).toEqual([
        'file /etc/nginx/sites-enabled/default', // comes with the package
      ]);
      expect(await get(8080)).toBe('hello: hello from shop');
      expect(await ask(address, 6390, 'PING\r\n')).toBe('+PONG\r\n');
      for (const unit of ['nginx', 'redis-server'])
        expect((await lab.sh(host, 'systemctl', 'is-enabled', unit)).trim()).toBe('enabled');
    }, 300_000);

    test('is left alone by a second run', async () => {
      const pids = [await mainPid('nginx'), await mainPid('redis-server')];
      expect(changed(await run(0))).toEqual([]);
      expect([await mainPid('nginx'), await mainPid('redis-server')]).toEqual(pids);
      main = pids[0] ?? '';
    });

    test('takes a changed pillar value by one reload of nginx and one restart of redis', async () => {
      edit('pillar/servers.sls', 'greeting: hello', 'greeting: goodbye');
      edit('pillar/servers.sls', 'maxmemory: 32mb', 'maxmemory: 48mb');
      const before = await reloads('nginx');
      expect(changed(await run(0))).toEqual([
        'file /etc/nginx/sites-available/app',
        'file /etc/redis/redis.conf',
        'file /srv/app/index.html',
        'service nginx',
        'service redis-server',
      ]);
      // A reload has been asked for when the run ends: until then, a worker with the old settings answers.
      await expect.poll(() => get(8080)).toBe('goodbye: goodbye from shop');
      expect(await ask(address, 6390, 'CONFIG GET maxmemory\r\n')).toContain(`${48 * 2 ** 20}`);
      expect(await mainPid('nginx')).toBe(main);
      expect((await reloads('nginx')) - before).toBe(1);
      expect(changed(await run(0))).toEqual([]);
    });

    test('keeps a configuration that works when the new one is refused', async () => {
      edit('pillar/servers.sls', 'workers: 2', 'workers: many');
      const states = await run(20);
      const failed = Object.entries(states).filter(([, { result }]) => result === false);
      expect(failed.map(([tag]) => idOf(tag))).toEqual([
        'file /etc/nginx/nginx.conf',
        'service nginx',
      ]);
      expect(failed[0]?.[1].comment).toMatch(
        /^check_cmd execution failed\n.*"worker_processes" directive invalid value/,
      );
      expect(changed(states)).toEqual([]);
      expect(await lab.sh(host, 'cat', '/etc/nginx/nginx.conf')).toContain('worker_processes 2;');
      expect(await get(8080)).toBe('goodbye: goodbye from shop');
      expect(await mainPid('nginx')).toBe(main);
    });
  },
);
