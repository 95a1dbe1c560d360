import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  loadRoster,
  type RunEvent,
  type RunOptions,
  run,
  TsaltError,
} from '../../../src/library/index.ts';
import { type Project, startProject } from '../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/motd.sls': `#!jinja|yaml
motd:
  file.managed:
    - name: {{ grains.root }}/motd
    - contents: {{ pillar.get('word', 'hello') }}
`,
      'states/slow.sls': `#!jinja|yaml
{% for number in range(20) %}
sleep {{ number }}:
  cmd.run:
    - name: sleep 0.3
{% endfor %}
`,
    },
  });
});
afterAll(() => project.close());

const options = (given: Partial<RunOptions> = {}): RunOptions => ({
  config: project.dir,
  env: { PATH: process.env.PATH },
  target: '*',
  fun: 'test.ping',
  ...given,
});

const fileOf = (id: string, name: string): string => join(project.hosts[id]?.root ?? '', name);

/** The error that work ends with. */
const faultOf = async (work: Promise<unknown>): Promise<TsaltError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TsaltError);
  return error as TsaltError;
};

describe('run', () => {
  test('returns a result of each host', { tags: 'slow' }, async () => {
    const results = await run(options()).results();
    expect(
      results.map(({ id, value, retcode }) => ({ id, value, retcode })).toSorted(byId),
    ).toEqual([
      { id: 'web1', value: true, retcode: 0 },
      { id: 'web2', value: true, retcode: 0 },
    ]);
  });

  test('applies states, with events while it does', async () => {
    const events: RunEvent[] = [];
    const pillar = { word: 'from a program' };
    const applied = run(
      options({ target: ['web1'], fun: 'state.apply', args: ['motd'], kwargs: { pillar } }),
    );
    for await (const event of applied) events.push(event);
    expect(events[0]).toEqual({ type: 'start', hosts: ['web1'], fun: 'state.apply' });
    expect(events.at(-1)).toEqual({ type: 'end' });
    const state = events.find(event => event.type === 'state');
    expect(state).toMatchObject({ host: 'web1', result: { result: true, __id__: 'motd' } });
    expect(readFileSync(fileOf('web1', 'motd'), 'utf8')).toBe('from a program\n');
  });

  test('predicts in test mode', async () => {
    const [result] = await run(
      options({ target: 'web2', fun: 'state.apply', args: ['motd'], test: true }),
    ).results();
    expect(Object.values(result?.states ?? {})[0]).toMatchObject({ result: null });
    expect(existsSync(fileOf('web2', 'motd'))).toBe(false);
  });

  test('takes configuration and hosts from the program, without any file', async () => {
    const { server } = project.hosts.web1 ?? {};
    const results = await run({
      cwd: project.dir,
      env: {},
      config: { cachedir: 'cache', known_hosts_file: 'known_hosts' },
      roster: {
        app: { host: '127.0.0.1', port: server?.port ?? 0, user: 'tester', priv: project.key },
      },
      target: 'app',
      fun: 'test.echo',
      args: [[1.5, 'x', { a: null }]],
    }).results();
    expect(results).toMatchObject([{ id: 'app', retcode: 0, value: [1.5, 'x', { a: null }] }]);
  });

  test('a host that cannot be reached is a result with its failure', async () => {
    const results = await run(
      options({ roster: { gone: { host: '127.0.0.1', port: 1 } }, target: '*' }),
    ).results();
    expect(results).toMatchObject([{ id: 'gone', failure: { kind: 'unreachable' } }]);
  });

  test('asks for a password by the callback', async () => {
    const { server } = project.hosts.web1 ?? {};
    const asked: string[] = [];
    const roster = {
      web1: {
        host: '127.0.0.1',
        port: server?.port ?? 0,
        user: 'tester',
        passwd: { prompt: true },
      },
    };
    const ask = ({ host, what }: { host: string; what: string }): string => {
      asked.push(`${host} ${what}`);
      return 'not-the-password';
    };
    const [refused] = await run(options({ roster, ask })).results();
    expect(asked).toEqual(['web1 password']);
    expect(refused?.failure?.kind).toBe('auth');
    expect(JSON.stringify(refused)).not.toContain('not-the-password');
    const [silent] = await run(options({ roster })).results();
    expect(silent?.failure?.code).toBe('no-terminal');
  });

  test.each([
    [{ tets: true }, 'usage-option', "Did you mean 'test'?"],
    [{ fun: 'ping' }, 'usage-function', undefined],
    [{ fun: 'test.pnig' }, 'no-function', undefined],
    [{ target: 'nobody' }, 'no-target', undefined],
    [{ maxProcs: 0 }, 'usage-value', undefined],
    [{ config: '/nowhere/at/all' }, 'config-missing', undefined],
    [{ args: [() => 1] }, 'usage-argument', 'Texts, numbers'],
    [{ kwargs: { when: new Date() } }, 'usage-argument', undefined],
  ])('%j is refused with the code %s', async (given, code, hint) => {
    const error = await faultOf(run(options(given as Partial<RunOptions>)).results());
    expect(error.code).toBe(code);
    if (hint !== undefined) expect(error.hint).toContain(hint);
  });

  test('is carried out once', async () => {
    const once = run(options({ target: 'web1' }));
    await once.results();
    await expect(once.results()).rejects.toThrow('carried out once');
  });

  test('leaving the loop ends the run', async () => {
    const begun = Date.now();
    let states = 0;
    for await (const event of run(
      options({ target: 'web1', fun: 'state.apply', args: ['slow'] }),
    )) {
      if (event.type === 'state') states += 1;
      if (states === 1) break;
    }
    expect(states).toBe(1);
    expect(Date.now() - begun).toBeLessThan(5000);
  });

  test('aborting one run leaves another one alone', async () => {
    const stop = new AbortController();
    const ended = run(
      options({ target: 'web1', fun: 'state.apply', args: ['slow'], signal: stop.signal }),
    ).results();
    const other = run(options({ target: 'web2', fun: 'cmd.run', args: ['sleep 1; echo on'] }));
    setTimeout(() => stop.abort(), 1000);
    const [[aborted], [whole]] = await Promise.all([ended, other.results()]);
    expect(aborted?.failure ?? Object.keys(aborted?.states ?? {}).length).not.toBe(20);
    expect(whole).toMatchObject({ id: 'web2', value: 'on', retcode: 0 });
  });

  test('runs at the same time do not see each other', { tags: 'slow' }, async () => {
    const word = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abcdefg') });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 2, maxLength: 4 }), async words => {
        const answers = await Promise.all(
          words.map(async (given, at) => {
            const [result] = await run(
              options({
                config: {
                  cachedir: join(project.dir, 'cache'),
                  known_hosts_file: join(project.dir, 'known_hosts'),
                  word: given,
                },
                roster: join(project.dir, 'roster.yaml'),
                target: at % 2 === 0 ? 'web1' : 'web2',
                fun: 'config.get',
                args: ['word'],
              }),
            ).results();
            return result?.value;
          }),
        );
        expect(answers).toEqual(words);
      }),
      { numRuns: 5 },
    );
  });

  test('neither prints nor changes the process', async () => {
    const written: unknown[] = [];
    const streams = [process.stdout, process.stderr] as const;
    const writes = streams.map(stream => stream.write);
    const listeners = process.listenerCount('SIGINT');
    for (const stream of streams)
      stream.write = (chunk: unknown) => {
        written.push(chunk);
        return true;
      };
    try {
      await run(options({ fun: 'state.apply', args: ['motd'] })).results();
    } finally {
      streams.forEach((stream, at) => {
        stream.write = writes[at] as typeof stream.write;
      });
    }
    expect(written).toEqual([]);
    expect(process.listenerCount('SIGINT')).toBe(listeners);
    expect(process.exitCode).toBeUndefined();
  });
});

describe('loadRoster', () => {
  test('returns the hosts without secrets, and what is wrong with an entry', async () => {
    const { hosts, faults } = await loadRoster({
      config: { cachedir: '/tmp' },
      roster: {
        db1: '10.0.0.7',
        db2: { host: 'db2.example', prot: 1 },
        db3: { host: 'c', passwd: 'pw' },
      },
    });
    expect(hosts.map(({ id }) => id)).toEqual(['db1', 'db2', 'db3']);
    expect(hosts[0]).toMatchObject({ host: '10.0.0.7', port: 22 });
    expect(faults.db2).toContain("'port'");
    expect(Object.keys(faults)).toEqual(['db2']);
    expect(JSON.stringify(hosts)).not.toContain('"pw"');
  });
});

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  a.id.localeCompare(b.id);
