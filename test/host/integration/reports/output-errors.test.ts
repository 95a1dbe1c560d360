import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let made = '';

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2', 'web3'],
    files: {
      'states/slow.sls': `first:
  cmd.run:
    - name: "echo begun; sleep 0.3"
{% for at in (1..5) %}
step{{ at }}:
  cmd.run:
    - name: "sleep 0.2; echo {{ grains.id }} >>{{ pillar.made }}"
{% endfor %}
`,
      'states/failing.sls': 'include: [slow]\nlast:\n  test.fail_without_changes: []\n',
    },
  });
  made = join(project.dir, 'made');
});
afterAll(() => project.close());

/** Runs a line of a shell in which `tsalt` is the command line. */
const shell = (line: string): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise(resolve => {
    const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const env = { ...process.env, HOME: join(project.dir, 'home'), NO_COLOR: '1' };
    const script = `tsalt() { "${process.execPath}" "${program}" "$@"; }\n${line}`;
    execFile('bash', ['-c', script], { cwd: project.dir, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const stepsOf = (text: string): Record<string, number> => {
  const steps: Record<string, number> = {};
  for (const id of text.trim().split('\n')) steps[id] = (steps[id] ?? 0) + 1;
  return steps;
};

const apply = (sls: string): string => `tsalt '*' state.apply ${sls} pillar='{made: ${made}}'`;

const all = { web1: 5, web2: 5, web3: 5 };

test.each([
  ['slow', 0],
  ['failing', 20],
])(
  'a closed pipe (… | head) cuts off no host: %s ends with code %i',
  { tags: 'slow' },
  async (sls, code) => {
    rmSync(made, { force: true });
    const out = sls === 'slow' ? '--out=ndjson' : '';
    const result = await shell(`${apply(sls)} ${out} --max-procs=2 | head -n1; exit $PIPESTATUS`);

    expect([result.code, result.stderr]).toEqual([code, '']);
    expect(result.stdout.split('\n')).toHaveLength(2);
    expect(stepsOf(readFileSync(made, 'utf8'))).toEqual(all);
    // No lock stayed: the next run is not refused.
    const next = await project.run('*', 'state.apply', sls, `pillar={made: ${made}}`);
    expect([next.code, next.stdout + next.stderr]).toEqual([
      code,
      expect.not.stringMatching(/is running as PID|connection was lost/),
    ]);
  },
);

test('a full disk behind standard output cuts off no host and is reported at the end', {
  tags: 'slow',
}, async () => {
  rmSync(made, { force: true });
  const { code, stderr } = await shell(`${apply('failing')} --max-procs=1 >/dev/full`);

  expect([code, stderr]).toEqual([
    64,
    `tsalt-ssh: The output cannot be written: ENOSPC: no space left on device, write.
The run itself went on to its end: only its report is incomplete.
`,
  ]);
  expect(stepsOf(readFileSync(made, 'utf8'))).toEqual(all);
});

test('the result of a host counts more than output that cannot be written', async () => {
  const gone = `tsalt 'tester@127.0.0.1:1' test.ping`;
  expect((await shell(`${gone} >/dev/full`)).code).toBe(68);
  expect((await shell(`${gone} --out-file=/dev/full`)).code).toBe(68);
  expect((await shell(`tsalt --help >/dev/full`)).code).toBe(64);
});

test.runIf(process.getuid?.() === 0)(
  'a disk that takes a part of the output is full, too',
  async () => {
    const full = join(project.dir, 'full');
    const text = "cmd.run 'head -c 6000 /dev/zero | tr \\\\0 x'";
    const inside = (run: string): string =>
      `mkdir -p ${full}; unshare -m bash -c 'mount -t tmpfs -o size=4k none ${full} && { ${run}; }'`;
    const script = (...args: string[]): string =>
      `"${process.execPath}" "${join(packageRoot, 'dist/tsalt-ssh.cjs')}" ${args.join(' ')}`.replaceAll(
        "'",
        "'\\''",
      );
    const message = /cannot be written: ENOSPC: no space left on device, write\.\n/;
    for (const out of [`>${full}/out`, `--out-file=${full}/out`]) {
      const { code, stderr } = await shell(inside(script('web1', text, out)));
      expect([code, stderr]).toEqual([64, expect.stringMatching(message)]);
    }
    expect(existsSync(join(full, 'out'))).toBe(false);
  },
);
