/** Roles of this host by what is installed on it, for targeting (`-G roles:web`) and templates. */
import { existsSync } from 'node:fs';

const signs: Readonly<Record<string, string>> = {
  '/usr/sbin/nginx': 'web',
  '/usr/sbin/sshd': 'ssh',
  '/usr/bin/docker': 'containers',
};

/** The grain `roles`. */
export const roles = (): { roles: string[] } => ({
  roles: Object.keys(signs)
    .filter(path => existsSync(path))
    .map(path => signs[path] ?? path),
});
