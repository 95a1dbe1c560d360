// @module-tag slow
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';
import { freePort, hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

const isRoot = process.getuid?.() === 0;

type Step = { name: string; state: string; detail: string; hint?: string };
type Diagnosis = { ok: boolean; exit_code: number; steps: Step[] };

describe.skipIf(!hasSshd)('doctor', () => {
  let project: Project;
  let sshd: Sshd;
  let other: Sshd;
  const mounts: string[] = [];

  /** A file system of its own in the project. */
  const mount = (name: string, options: string): string => {
    const dir = join(project.dir, name);
    mkdirSync(dir, { mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]);
    mounts.push(dir);
    return dir;
  };

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    other = await startSshd({ dir: join(project.dir, 'other') });
    const closed = await freePort();
    project.write({ 'broken/node': '#!/bin/sh\nexit 3\n' });
    chmodSync(join(project.dir, 'broken/node'), 0o755);
    const entry = (id: string, more: Record<string, unknown>): string =>
      `${id}: ${JSON.stringify({ host: '127.0.0.1', port: sshd.port, user: sshd.user, priv: sshd.key, thin_dir: join(project.dir, 'workspace'), ...more })}\n`;
    const places = isRoot
      ? [
          entry('full', { thin_dir: join(mount('full', 'size=64k,mode=700'), 'w') }),
          entry('noexec', { thin_dir: join(mount('noexec', 'noexec,mode=700'), 'w') }),
        ]
      : [];
    if (isRoot)
      execFileSync('sh', ['-c', `cat /dev/zero >${join(project.dir, 'full/filler')} || :`], {
        stdio: 'ignore',
      });
    project.write({
      known_hosts: [
        `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
        // The key of another server: as after a reinstallation.
        `[localhost]:${sshd.port} ${other.hostKeys[0]}\n`,
      ].join(''),
      'roster.yaml': [
        entry('well', {}),
        entry('closed', { port: closed }),
        entry('nameless', { host: 'no-such-host.invalid' }),
        entry('changed', { host: 'localhost' }),
        entry('unknown', { port: other.port }),
        entry('stranger', { user: 'nobody-of-that-name' }),
        entry('nosudo', { sudo: true, sudo_user: 'nobody-of-that-name' }),
        entry('badnode', { node_bin: join(project.dir, 'broken/node') }),
        entry('nonode', { node_bin: '/nowhere/node' }),
        ...places,
      ].join(''),
    });
  });
  afterAll(async () => {
    await Promise.all([sshd?.close(), other?.close()]);
    for (const dir of mounts) execFileSync('umount', [dir]);
    await project.close();
  });

  const diagnosed = async (
    id: string,
  ): Promise<Diagnosis & { code: number | null; failed: Step | undefined }> => {
    const { code, json } = await project.run('doctor', id, '--out', 'json');
    const found = (json() as Record<string, Diagnosis>)[id];
    if (!found) throw new Error(`no diagnosis of ${id}`);
    return { ...found, code, failed: found.steps.find(({ state }) => state === 'failed') };
  };

  test('goes through every step of a host that works', async () => {
    const { code, stdout } = await project.run('doctor', 'well');
    expect(stdout).toMatch(/^well: works\n/);
    const names = ['roster', 'name', 'connection', 'host key', 'login', 'shell', 'become', 'disk'];
    for (const name of [...names, 'programs', 'Node', 'clock', 'workspace', 'runtime'])
      expect(stdout).toMatch(new RegExp(`^  (?:ok|-) +${name} `, 'm'));
    expect(code).toBe(0);
  });

  test.each([
    ['closed', 'connection', 68, 'systemctl status ssh'],
    ['nameless', 'name', 68, 'getent hosts no-such-host.invalid'],
    ['changed', 'host key', 76, 'ssh-keygen -R'],
    ['unknown', 'host key', 76, '--accept-new-host-keys'],
    ['stranger', 'login', 77, '--key-deploy'],
    ['nosudo', 'become', 77, 'sudoers'],
    ['badnode', 'Node', 69, 'node_bin'],
    ['nonode', 'Node', 69, 'node_bin'],
  ])('explains what is wrong with "%s"', async (id, step, exitCode, hint) => {
    const { code, failed, exit_code, steps } = await diagnosed(id);
    expect({ step: failed?.name, code, exit_code }).toEqual({
      step,
      code: exitCode,
      exit_code: exitCode,
    });
    expect(`${failed?.detail}\n${failed?.hint}`).toContain(hint);
    expect(steps.at(-1)).toEqual(failed);
    const run = await project.run(id, 'test.ping');
    expect(run.code).toBe(exitCode);
  });

  test.skipIf(!isRoot)('sees a full disk and one that runs no programs', async () => {
    const full = await diagnosed('full');
    expect(full.steps).toContainEqual(
      expect.objectContaining({ name: 'disk', state: 'warning', hint: expect.any(String) }),
    );
    const run = await project.run('full', 'test.ping');
    expect(full.code).toBe(run.code);
    const noexec = await diagnosed('noexec');
    expect(noexec.steps).toContainEqual(
      expect.objectContaining({
        name: 'programs',
        state: 'warning',
        detail: expect.stringContaining('noexec'),
      }),
    );
    expect(noexec.code).toBe(0);
  });

  test('examines several hosts, and exits as a run on them would', async () => {
    const { code, stdout } = await project.run('doctor', '-L', 'well,closed,stranger');
    expect(stdout).toContain('well: works\n');
    expect(stdout).toContain('closed: connection failed\n');
    expect(stdout).toContain('stranger: login failed\n');
    expect(code).toBe((await project.run('-L', 'well,closed,stranger', 'test.ping')).code);
  });

  test('asks hosts whose grains decide, and examines those that cannot be asked', async () => {
    const { code, stdout } = await project.run('doctor', '-C', 'G@kernel:Linux and L@well,closed');
    expect(stdout).toContain('well: works\n');
    expect(stdout).toContain('closed: connection failed\n');
    expect(code).toBe(68);
    const none = await project.run('doctor', '-C', 'G@kernel:Plan9 and L@well,badnode');
    expect(none.stdout).toContain('badnode: Node failed\n');
    expect(none.stdout).not.toContain('well');
    expect((await project.run('doctor', '-C', 'G@kernel:Plan9 and L@well')).code).toBe(67);
    expect((await project.run('doctor', '-C', 'I@role:x and L@well')).code).toBe(67);
  });

  test('refuses wrong arguments', async () => {
    expect((await project.run('doctor')).code).toBe(64);
    expect((await project.run('doctor', 'nothing-matches')).code).toBe(67);
    expect((await project.run('doctor', 'well', '--out', 'junit')).code).toBe(64);
  });
});
