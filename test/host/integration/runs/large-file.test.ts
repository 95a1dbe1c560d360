import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingProxy } from '../../../bench/measure.ts';
import { packageRoot, tsalt } from '../../../helpers/cli.ts';
import { nothing } from '../../../helpers/nothing.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

// A real sshd and real disks. `TSALT_LARGE_FILE_GB=5` makes the file larger than in CI.
const gigabytes = Number(process.env.TSALT_LARGE_FILE_GB ?? 1);
const size = gigabytes * 1024 ** 3;
const mostExtra = 100 * 1024;
const patience = 120_000 + gigabytes * 240_000;
const isRoot = process.getuid?.() === 0;

let dir = '';
let home = '';
let sshd: Sshd | undefined;
let proxy: Awaited<ReturnType<typeof countingProxy>> | undefined;

beforeAll(async () => {
  if (!hasSshd) return;
  dir = mkdtempSync(join(tmpdir(), 'tsalt-large-'));
  home = join(dir, 'home');
  mkdirSync(join(dir, 'states/_modules'), { recursive: true });
  mkdirSync(home);
  sshd = await startSshd({ dir: join(dir, 'sshd'), config: [`SetEnv HOME=${home} BASH_ENV=`] });
  proxy = await countingProxy(sshd.port);
  const files = {
    'states/_modules/memory.ts': `import { readFileSync } from 'node:fs';

/** The most memory that this process has held, in KiB. */
export const peak = (): number =>
  Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
`,
    'states/idle.sls': 'memory.peak:\n  module.run: []\n',
    'states/large.sls': `${home}/new/folder/large:
  file.managed:
    - source: salt://large.bin
    - makedirs: true
memory.peak:
  module.run: []
`,
    'states/full.sls': `${dir}/small-disk/large:
  file.managed:
    - source: salt://large.bin
after:
  test.nop: []
`,
    'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n',
    known_hosts: `[127.0.0.1]:${proxy.port} ${sshd.hostKeys[0]}\n`,
    'roster.yaml': `web1: {host: 127.0.0.1, port: ${proxy.port}, user: ${sshd.user}, priv: ${sshd.key}, timeout: 60}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  writeFileSync(join(dir, 'states/large.bin'), '');
  truncateSync(join(dir, 'states/large.bin'), size);
});

afterAll(async () => {
  await proxy?.close();
  await sshd?.close();
  if (dir) removeFolder(dir);
});

type Result = { result: boolean | null; comment: string; changes: Record<string, unknown> };
type Run = {
  readonly code: number | null;
  readonly states: readonly Result[];
  /** KiB that each side held at most, and bytes that went to the host. */
  readonly control: number;
  readonly host: number;
  readonly sent: number;
  readonly seconds: number;
};

const apply = async (sls: string, ...args: string[]): Promise<Run> => {
  const usage = join(dir, 'usage.json');
  const begin = performance.now();
  const before = proxy?.counts.up ?? 0;
  const { code, stdout, stderr } = await tsalt(
    ['web1', 'state.apply', sls, '--out', 'json', ...args],
    {
      cwd: dir,
      env: {
        NODE_OPTIONS: `--require=${join(packageRoot, 'test/bench/usage.cjs')}`,
        USAGE_FILE: usage,
        XDG_CACHE_HOME: join(dir, 'xdg'),
      },
    },
  );
  const found = (JSON.parse(stdout || '{}') as { web1?: Record<string, Result> }).web1;
  if (!found) throw new Error(stderr);
  const states = Object.values(found);
  const peak = states.flatMap(({ changes }) => Object.values(changes)).filter(Number.isInteger);
  return {
    code,
    states,
    control: (JSON.parse(readFileSync(usage, 'utf8')) as { rss: number }).rss,
    host: Number(peak[0]),
    sent: (proxy?.counts.up ?? 0) - before,
    seconds: (performance.now() - begin) / 1000,
  };
};

const target = (): string => join(home, 'new/folder/large');
const left = (folder: string): string[] => readdirSync(folder).filter(name => /\.tmp$/.test(name));

test.skipIf(!hasSshd)(
  'a file of gigabytes is sent in bounded memory, and not again when it is there',
  { tags: 'slow', timeout: patience },
  async () => {
    await apply('idle');
    const idle = await apply('idle');

    const planned = await apply('large', 'test=true');
    const first = await apply('large');
    const second = await apply('large');

    const show = { idle, planned, first, second };
    process.stdout.write(
      `${gigabytes} GB: ${Object.entries(show)
        .map(
          ([name, { control, host, sent, seconds }]) =>
            `${name} ${seconds.toFixed(1)} s, ${sent} bytes up, control ${control} KiB, host ${host || '-'} KiB`,
        )
        .join('; ')}\n`,
    );
    expect(planned.states[0]).toMatchObject({ result: null, changes: { newfile: target() } });
    expect(planned.sent).toBeLessThan(1024 ** 2);
    expect(first).toMatchObject({ code: 0 });
    expect(statSync(target()).size).toBe(size);
    expect(second.states[0]).toMatchObject({ result: true, changes: nothing });
    expect(second.sent).toBeLessThan(1024 ** 2);
    expect(left(join(home, 'new/folder'))).toEqual([]);
    for (const { control, host } of [first, second]) {
      expect(control - idle.control).toBeLessThan(mostExtra);
      expect(host - idle.host).toBeLessThan(mostExtra);
    }
  },
);

test.skipIf(!hasSshd || !isRoot)(
  'a disk that fills up on the way fails that state by name, and the run goes on',
  { tags: 'slow', timeout: 240_000 },
  async () => {
    const disk = join(dir, 'small-disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', disk]);
    try {
      const { states, sent } = await apply('full');

      expect(states[0]).toMatchObject({
        result: false,
        comment: `Unable to manage file: ${disk}/large cannot be written: no space is left on the device`,
      });
      expect(states[1]).toMatchObject({ result: true });
      expect(sent).toBeLessThan(size / 2);
      expect(existsSync(join(disk, 'large'))).toBe(false);
      const { bavail, blocks } = statfsSync(disk);
      expect(bavail).toBe(blocks);
    } finally {
      execFileSync('umount', [disk]);
    }
  },
);
