import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot, tsalt } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const project = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'watch-'));
  onTestFinished(() => removeFolder(dir));
  mkdirSync(join(dir, 'states'));
  writeFileSync(join(dir, 'tsalt.yaml'), 'cachedir: cache\nrenderer: jinja|yaml\n');
  writeFileSync(join(dir, 'roster.yaml'), 'web1: 192.0.2.1\n');
  writeFileSync(join(dir, 'states/top.sls'), "base: {'*': [a]}\n");
  writeFileSync(join(dir, 'states/a.sls'), 'x: test.nop\n');
  return dir;
};

test('validate --watch checks again when a file is saved', async () => {
  const dir = project();
  const args = [`${packageRoot}dist/tsalt-ssh.cjs`, 'validate', '--watch'];
  const child = spawn(process.execPath, args, { cwd: dir });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  let wake: () => void = () => undefined;
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    wake();
  });
  /** The next report. */
  const report = async (): Promise<string> => {
    while (!/Watching\.\n/.test(text))
      await new Promise<void>(done => {
        wake = done;
      });
    const end = text.indexOf('Watching.\n') + 'Watching.\n'.length;
    const one = text.slice(0, end);
    // The last line of a report comes after the notes.
    text = text.slice(end).replace(/^[^\n]*checked:[^\n]*\n/, '');
    return one;
  };
  const save = async (path: string, content: string): Promise<string> => {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    // As editors do: by a new file in its place.
    writeFileSync(join(dir, `${path}.tmp`), content);
    renameSync(join(dir, `${path}.tmp`), join(dir, path));
    return report();
  };
  expect(await report()).not.toContain('error:');
  expect(await save('states/a.sls', 'x: test.nope\n')).toContain("'test.nope'");
  const moved = await save('states/a.sls', '{# a comment #}\n\nx: test.nope\n');
  expect(moved).toContain('states/a.sls:3');
  expect(await save('states/a.sls', 'x: test.nop\n')).not.toContain('error:');
  expect(await save('roster.yaml', 'web1: {hots: a}\n')).toContain("unknown key 'hots'");
  expect(await save('tsalt.yaml', 'ssh_max_procs: none\n')).toContain("'ssh_max_procs'");
  const closed = new Promise(done => child.once('close', (_, signal) => done(signal)));
  child.kill('SIGINT');
  expect(await closed).toBe('SIGINT');
}, 30_000);

test('--watch does not go with --fix', async () => {
  const { code, stderr } = await tsalt(['lint', '--watch', '--fix'], { cwd: project() });
  expect(code).toBe(64);
  expect(stderr).toContain('--watch and --fix exclude each other');
});
