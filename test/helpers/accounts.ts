import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

/** An account of this machine that a test made. */
export type TestAccount = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  /** Runs a line of sh as this account, from its home. */
  readonly sh: (line: string) => string;
  readonly remove: () => void;
};

/** Makes an account with a home. Only root can. `groups` are further ones that it is in. */
export const makeAccount = (groups: readonly string[] = []): TestAccount => {
  const name = `tsalt-${randomBytes(4).toString('hex')}`;
  const more = groups.length > 0 ? ['-G', groups.join(',')] : [];
  execFileSync('useradd', ['-m', '-s', '/bin/sh', ...more, name], { stdio: 'pipe' });
  const [, , uid, gid, , home = ''] = execFileSync('getent', ['passwd', name])
    .toString()
    .trim()
    .split(':');
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    home,
    sh: line =>
      execFileSync('/bin/sh', ['-c', line], {
        uid: Number(uid),
        gid: Number(gid),
        cwd: home,
        env: { PATH: '/usr/bin:/bin', HOME: home },
      }).toString(),
    remove: () => {
      execFileSync('userdel', ['-r', name], { stdio: 'pipe' });
    },
  };
};
