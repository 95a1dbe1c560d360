import { spawnSync } from 'node:child_process';
import type { PlainDict } from '../../api.ts';
import { existsSync } from '../safe-fs/fs.ts';
import { forProgram, withParent } from '../safe-fs/open-parent.ts';

export type SelinuxContext = {
  readonly seuser?: string | undefined;
  readonly serole?: string | undefined;
  readonly setype?: string | undefined;
  readonly serange?: string | undefined;
};

const parts = [
  ['seuser', 'User', '-u'],
  ['serole', 'Role', '-r'],
  ['setype', 'Type', '-t'],
  ['serange', 'Range', '-l'],
] as const;

type Outcome = { changes: PlainDict; comments: string[] };

let isThere: boolean | undefined;

/** Whether this kernel enforces or watches SELinux contexts, which it does from its start or never. */
export const hasSelinux = (): boolean => {
  isThere ??= existsSync('/sys/fs/selinux/enforce');
  return isThere;
};

/** The context of a file, `user:role:type:range`; undefined where it has none. */
export const selinuxContextOf = (path: string): string | undefined => {
  const { status, stdout } = spawnSync('stat', ['--printf=%C', '--', path], { encoding: 'utf8' });
  return status === 0 && stdout.includes(':') ? stdout.trim() : undefined;
};

/** Sets the wanted parts of a file's context with `chcon`. */
export const applySelinux = (
  path: string,
  wanted: SelinuxContext | undefined,
  test: boolean,
): Outcome => {
  const asked = parts.filter(([key]) => wanted?.[key]);
  if (!wanted || asked.length === 0) return { changes: {}, comments: [] };
  const context = hasSelinux() ? selinuxContextOf(path) : undefined;
  if (context === undefined) return { changes: {}, comments: ['Failed to get selinux attributes'] };
  const current = splitContext(context);
  const differing = asked.filter(([key]) => wanted[key] !== current[key]);
  if (differing.length === 0) return { changes: {}, comments: [] };
  const show = (values: SelinuxContext): string =>
    differing.map(([key, label]) => `${label}: ${values[key]}`).join(' ');
  const changes = { selinux: { Old: show(current), New: show(wanted) } };
  if (test) return { changes, comments: [] };
  const args = differing.flatMap(([key, , option]) => [option, wanted[key] ?? '']);
  const { status } = withParent(path, true, place =>
    spawnSync('chcon', [...args, '--', forProgram(place)]),
  );
  return status === 0
    ? { changes, comments: [] }
    : { changes: {}, comments: ['Failed to set selinux attributes'] };
};

const splitContext = (context: string): SelinuxContext => {
  const [seuser, serole, setype, ...range] = context.split(':');
  return { seuser, serole, setype, serange: range.join(':') };
};

/** Sets the SELinux context that the policy has for a path. */
export const restoreContext = (path: string): void => {
  if (hasSelinux()) spawnSync('restorecon', ['--', path]);
};
