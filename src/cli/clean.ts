import type { Host } from '../protocol/host.ts';

/** A glob: our names in a workspace have a whole SHA-256 in them, others' hardly do. */
const hash = '[0-9a-f]'.repeat(64);

/**
 * The shell command of `clean`: removes what runs leave on a host (artifacts, a Node that was
 * brought along) from the places where a workspace can be, if they belong to the login user. Of a
 * `thin_dir`, which may hold more than ours, only what is ours goes.
 */
export const cleanCommand = ({ thin_dir = '' }: Pick<Host, 'thin_dir'>): string => {
  const script = [
    'u=$(id -u)',
    'for d in "$HOME/.cache/tsalt-ssh" "/var/tmp/tsalt-ssh-$u" "/tmp/tsalt-ssh-$u"; do if [ -d "$d" ] && [ ! -h "$d" ] && [ -O "$d" ]; then rm -rf "$d" && echo "removed $d"; fi; done',
    'd=$1',
    `case $d in [~]/*) d=$HOME/\${d#??} ;; esac`,
    'if [ -n "$d" ] && [ -d "$d" ] && [ ! -h "$d" ] && [ -O "$d" ]; then cd "$d" && rm -rf ./.node-* ./.pre-flight-* ./run.lock* ./reactions.* ./lost-run.json ./guard-*',
    `for f in ./${hash}.js* ./node-${hash} ./pre-flight-${hash}; do rm -f "$f"; done`,
    'cd / && if rmdir "$d" 2>/dev/null; then echo "removed $d"; else echo "emptied $d"; fi; fi',
  ].join('; ');
  return `/bin/sh -c '${script}' clean '${thin_dir.replaceAll("'", "'\\''")}'`;
};
