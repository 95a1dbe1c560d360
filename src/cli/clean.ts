import type { Host } from '../protocol/host.ts';

/** A glob: our names in a workspace have a whole SHA-256 in them, others' hardly do. */
const hash = '[0-9a-f]'.repeat(64);

/** A glob: the end of the name of a workspace that is for one run (`--rand-thin-dir`). */
const random = '[0-9a-f]'.repeat(16);

/**
 * `live FILE`: does a process run that a lock, or a record of commands, names? Its start tells it
 * from one with its old number.
 */
const live = [
  'live() { [ -f "$1" ] || return 1',
  'for i in $(sed -n "s/.*\\"pid\\":\\([0-9]*\\),\\"begun\\":\\"\\([0-9]*\\)\\".*/\\1:\\2/p" "$1")',
  `do p=\${i%%:*}`,
  'kill -0 "$p" 2>/dev/null || continue',
  's=$(sed "s/.*) //" "/proc/$p/stat" 2>/dev/null | cut -d" " -f1,20)',
  'case $s in Z*) continue ;; esac',
  `[ -z "$s" ] || [ "$i" = "$p:" ] || [ "$i" = "$p:\${s#* }" ] && return 0`,
  'done; return 1 ; }',
].join('; ');

/** `held DIR`: reports who works there, a run of states or a guard that may still put things back. */
const held = [
  'held() { for f in "$1/run.lock" "$1"/run.lock.*.children "$1/owner.json" "$1"/guard-*/run.lock',
  `do if [ -e "\${f%/*}/outcome.json" ]; then continue; fi`,
  'if live "$f"; then n=$(sed -n "s/.*\\"fun\\":\\"\\([a-z0-9_.]*\\)\\".*/The function \\1/p" "$f")',
  'case $f in */guard-*) n="A guard" ;; *.children) n="A command of a killed run" ;; esac',
  `echo "kept $1: \${n:-A run} works there as PID $p. Wait until it is done, or end it."`,
  'k=1; return 0; fi; done; return 1 ; }',
].join('; ');

/**
 * The shell command of `clean`: removes what runs leave on a host (artifacts, a Node that was
 * brought along) from the places where a workspace can be, if they belong to the login user. Of a
 * `thin_dir`, which may hold more than ours, only what is ours goes. A workspace in which a run or
 * a guard works stays; the command then fails.
 */
export const cleanCommand = ({ thin_dir = '' }: Pick<Host, 'thin_dir'>): string => {
  const script = [
    'k=0; u=$(id -u)',
    live,
    held,
    'own() { [ -d "$1" ] && [ ! -h "$1" ] && [ -O "$1" ] ; }',
    't=$1',
    `case $t in [~]/*) t=$HOME/\${t#??} ;; esac`,
    `for d in "$HOME/.cache/tsalt-ssh" "$HOME/.cache/tsalt-ssh"-${random} "/var/tmp/tsalt-ssh-$u" "/var/tmp/tsalt-ssh-$u"-${random} "/tmp/tsalt-ssh-$u" "/tmp/tsalt-ssh-$u"-${random} "\${t:-/dev/null}"-${random}`,
    'do if own "$d" && ! held "$d"; then rm -rf "$d" && echo "removed $d"; fi; done',
    'd=$t',
    'if [ -n "$d" ] && own "$d" && ! held "$d"; then cd "$d" && rm -rf ./.node-* ./.pre-flight-* ./run.lock* ./reactions.* ./lost-run.json ./guard-*',
    `for f in ./${hash}.js* ./node-${hash} ./pre-flight-${hash}; do rm -f "$f"; done`,
    'cd / && if rmdir "$d" 2>/dev/null; then echo "removed $d"; else echo "emptied $d"; fi; fi',
    'exit $k',
  ].join('; ');
  return `/bin/sh -c '${script}' clean '${thin_dir.replaceAll("'", "'\\''")}'`;
};
