import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { listen } from './sshd.ts';

/** Why no dropbear can be started here; undefined when one can. Tests put it in their skip's name. */
export const dropbearMissing = ((): string | undefined => {
  if (process.getuid?.() !== 0) return 'needs root';
  const absent = ['dropbear', 'dropbearkey', 'ssh-keygen', 'unshare'].filter(
    name => spawnSync('/bin/sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  return absent.length > 0 ? `needs ${absent.join(', ')}` : undefined;
})();

export type Dropbear = {
  readonly port: number;
  readonly user: string;
  /** Private key that may log in. */
  readonly key: string;
  /** The public host key as `type base64`. */
  readonly hostKey: string;
  /** The login user's home folder, as this side sees it. */
  readonly home: string;
  readonly log: () => string;
  readonly close: () => Promise<void>;
};

const startScript = `#!/bin/sh
mount --bind "$1" "$2" && cd / || exit 1
k=$3 p=$4 f=$5
shift 5
touch "$f.none"
for h in "$@"; do mount --bind "$f.none" "$h" || exit 1; done
exec dropbear -F -E -r "$k" -p "$p" -P "$f"
`;

/**
 * The small SSH server of routers and rescue systems, on loopback. It knows keys only in the real
 * home folder, so that is a folder of its own in the server's eyes.
 */
export const startDropbear = async (
  dir: string,
  /** Programs of this machine that the server's side does not have. */
  hidden: readonly string[] = [],
): Promise<Dropbear> => {
  const home = join(dir, 'home');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  const key = join(dir, 'user_key');
  if (!existsSync(key)) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  copyFileSync(`${key}.pub`, join(home, '.ssh/authorized_keys'));
  const hostKey = join(dir, 'host_key');
  execFileSync('dropbearkey', ['-t', 'ed25519', '-f', hostKey], { stdio: 'ignore' });
  const shown = execFileSync('dropbearkey', ['-y', '-f', hostKey], { encoding: 'utf8' });
  const script = join(dir, 'start');
  writeFileSync(script, startScript, { mode: 0o700 });
  const { port, log, close } = await listen(at =>
    spawn(
      'unshare',
      ['-m', script, home, homedir(), hostKey, `127.0.0.1:${at}`, join(dir, 'pid'), ...hidden],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    ),
  );
  return {
    port,
    user: userInfo().username,
    key,
    hostKey: /^ssh-ed25519 \S+/m.exec(shown)?.[0] ?? '',
    home,
    log,
    close,
  };
};
