import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { seeded } from '../../../helpers/random.ts';

/** How often the orchestration is interrupted. */
const kills = Number(process.env.TSALT_KILLS ?? (process.env.CI ? 20 : 6));
const seed = Number(process.env.TSALT_SEED ?? Date.now() % 1e9);

const ids = ['db1', 'web1', 'web2'];
let project: Project;

const orchestration = `#!jinja|yaml
{% set round = pillar.round %}
database:
  salt.state:
    - tgt: db1
    - sls: once
    - queue: True
    - pillar: {step: database, round: {{ round }}}
word:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: [cat $HOME/database]
    - kwarg: {python_shell: True}
    - require: [{salt: database}]
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: once
    - queue: True
    - pillar: {step: web, round: {{ round }}, word: '__slot__:salt:orch.result(word, db1)'}
    - require: [{salt: word}]
everywhere:
  salt.state:
    - tgt: '*'
    - sls: once
    - batch: 1
    - queue: True
    - pillar: {step: last, round: {{ round }}}
    - require: [{salt: web servers}]
`;

/**
 * A change that is counted: once per step and round. Commands of an interrupted run are ended by
 * SIGTERM: this one finishes what it has begun.
 */
const once = `#!jinja|yaml
{% set done = grains.root ~ '/done-' ~ pillar.step ~ '-' ~ pillar.round %}
count {{ pillar.step }}:
  cmd.run:
    - name: trap '' TERM; echo {{ pillar.round }} >> {{ grains.root }}/{{ pillar.step }}; touch {{ done }}
    - creates: {{ done }}
`;

beforeAll(async () => {
  project = await startProject({
    hosts: ids,
    files: {
      'states/orch/kept.sls': orchestration,
      'states/once.sls': once,
      'states/orch/slow.sls': "step:\n  salt.state: [{tgt: '*'}, {sls: slow}, {batch: 1}]\n",
      'states/slow.sls': 'sleep 30:\n  cmd.run\n',
    },
  });
});
afterAll(() => project.close());

/** How often each step has changed each host in a round. */
const counts = (round: number): Record<string, number> =>
  Object.fromEntries(
    ids.flatMap(id =>
      ['database', 'web', 'last'].map(step => {
        const path = join(project.hosts[id]?.root ?? '', step);
        const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
        return [`${step} on ${id}`, lines.filter(line => line === String(round)).length];
      }),
    ),
  );

const expected = Object.fromEntries(
  ids.flatMap(id => [
    [`database on ${id}`, id === 'db1' ? 1 : 0],
    [`web on ${id}`, id === 'db1' ? 0 : 1],
    [`last on ${id}`, 1],
  ]),
);

const words = (round: number): string[] => ['--orch', 'orch.kept', `pillar={round: ${round}}`];

test(`an orchestration that is interrupted anywhere is finished by --resume, each change once (seed ${seed})`, {
  tags: 'slow',
  timeout: 1_800_000,
}, async () => {
  const random = seeded(seed);
  const began = performance.now();
  const undisturbed = await project.run(...words(0));
  expect({ code: undisturbed.code, counts: counts(0) }).toEqual({ code: 0, counts: expected });
  let whole = performance.now() - began;
  let interrupted = 0;
  for (let round = 1; round <= kills; round += 1) {
    const jid = String(20260101000000000000n + BigInt(round));
    const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const child = spawn(process.execPath, [program, ...words(round), `--jid=${jid}`], {
      cwd: project.dir,
      env: { ...process.env, HOME: join(project.dir, 'home'), SSH_AUTH_SOCK: '', NO_COLOR: '1' },
      stdio: 'ignore',
    });
    const ended = new Promise<void>(resolve => child.on('close', () => resolve()));
    await Promise.race([pause(random() * whole), ended]);
    const isRunning = child.exitCode === null;
    if (isRunning) child.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGINT');
    await ended;
    interrupted += isRunning ? 1 : 0;
    // Follows the load of the machine: most runs are to be interrupted.
    whole *= isRunning ? 1.1 : 0.7;
    const isKept = existsSync(join(project.dir, 'cache/orchestrations', `${jid}.json`));
    if (isRunning || isKept) {
      const rest = await project.run(...words(round), ...(isKept ? ['--resume', jid] : []));
      expect({ round, code: rest.code, rest: rest.code === 0 ? '' : rest.stdout }).toEqual({
        round,
        code: 0,
        rest: '',
      });
    }
    expect({ round, counts: counts(round) }).toEqual({ round, counts: expected });
  }
  expect(interrupted).toBeGreaterThanOrEqual(Math.floor(kills / 3));
});

test('an interrupted orchestration reports the hosts of its step before it ends', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
  const child = spawn(process.execPath, [program, '--orch', 'orch.slow', '--out=ndjson'], {
    cwd: project.dir,
    env: { ...process.env, HOME: join(project.dir, 'home'), SSH_AUTH_SOCK: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!output.includes('first state') && text.includes('first state')) child.kill('SIGINT');
    output += text;
  });
  const code = await new Promise(resolve => child.on('close', resolve));
  const cancelled = output.split('\n').filter(line => line.includes('"type":"step"'));
  expect(code).toBe(130);
  expect(cancelled.some(line => line.includes('"code":"cancelled"'))).toBe(true);
});
