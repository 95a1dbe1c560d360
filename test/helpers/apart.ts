import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

// runit would start every service that this machine offers; OpenRC makes control groups.
const mounts = `set -e; t=$1; shift; mount -t tmpfs tmpfs $t
for folder in /etc /usr/lib/locale $TSALT_COVER; do
  [ -d $folder ] || continue
  mkdir -p $t$folder/u $t$folder/w
  mount -t overlay overlay -o lowerdir=$folder,upperdir=$t$folder/u,workdir=$t$folder/w $folder
done
for folder in /run /sys/fs/cgroup /etc/service /var/service /service
do [ ! -d $folder ] || mount -t tmpfs tmpfs $folder; done
exec "$@"`;

const apart = ['--mount', '--pid', '--fork'];

/** Whether this machine lets us run something apart: root in most containers may not. */
export const canRunApart = (): boolean =>
  process.getuid?.() === 0 && spawnSync('unshare', [...apart, 'true']).status === 0;

/**
 * Runs code with modules (by name, their files) on a copy of /etc, with a /run and processes of its
 * own, without any services: nothing of this machine is touched. `cover` names further folders to
 * work on a copy of; `flags` are further ones of unshare(1), as `--net`. `step(name, work, context?)` notes what `work` gives, or its error, and `thrice`
 * that of test mode (`NAME told`), of a run and of another (`NAME again`); all notes are the answer.
 * Needs root, and ends after `seconds`.
 */
export const runApart = (
  modules: Readonly<Record<string, string>>,
  code: string,
  cover: readonly string[] = [],
  seconds = 240,
  flags: readonly string[] = [],
): Promise<Record<string, unknown>> => {
  const imports = Object.entries(modules).map(
    ([name, file]) => `import * as ${name} from ${JSON.stringify(resolve(file))};`,
  );
  const program = `${imports.join('\n')}
    import { contextOf, within } from ${JSON.stringify(resolve('test/modules/_context.ts'))};
    const told = {};
    const context = contextOf({ ${Object.keys(modules).join(', ')} });
    const step = async (name, work, where = context) => {
      try { told[name] = await within(where, work); }
      catch (error) { told[name] = 'failed: ' + error.message; }
    };
    const thrice = async (name, work, where = context) => {
      await step(name + ' told', work, { ...where, opts: { ...where.opts, test: true } });
      await step(name, work, where);
      await step(name + ' again', work, where);
    };
    ${code}
    console.log('TOLD ' + JSON.stringify(told));
    process.exit(0);`;
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-apart-'));
  const words = [
    ...apart,
    ...flags,
    '--kill-child',
    '--mount-proc',
    'sh',
    '-c',
    mounts,
    'sh',
    folder,
  ];
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', program];
  return new Promise((done, fail) => {
    const options = {
      timeout: seconds * 1000,
      env: { ...process.env, TSALT_COVER: cover.join(' ') },
    };
    execFile('unshare', [...words, ...node], options, (_, stdout, stderr) => {
      rmdirSync(folder);
      const line = stdout.split('\n').find(one => one.startsWith('TOLD '));
      if (line) done(JSON.parse(line.slice('TOLD '.length)));
      else fail(new Error(`it did not get to its end: ${stderr}`));
    });
  });
};
