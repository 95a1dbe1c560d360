# Removes what runs left on a host: workspaces of the login user in the usual places, and the names
# that are ours in the thin_dir $1, which may hold more. A workspace in which a run or a guard works
# stays; the exit code is then 1.
k=0
u=$(id -u)

# Globs: the SHA-256 in our names, and the end of the name of a workspace for one run.
x="[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"
x16=$x$x$x$x
x64=$x16$x16$x16$x16

# live FILE: does a process run that a run lock, or a record of commands, names? The time at which
# it started tells it from another one with the same number.
live() {
  [ -f "$1" ] || return 1
  # shellcheck disable=SC2013 # one word per line
  for i in $(sed -n -E "s/.*.pid.:([0-9]*),.begun.:.([0-9]*).*/\1:\2/p" "$1"); do
    p=${i%%:*}
    kill -0 "$p" 2>/dev/null || continue
    s=$(sed "s/.*) //" "/proc/$p/stat" 2>/dev/null | cut -d" " -f1,20)
    case $s in Z*) continue ;; esac
    [ -z "$s" ] || [ "$i" = "$p:" ] || [ "$i" = "$p:${s#* }" ] && return 0
  done
  return 1
}

# held DIR: reports the run or the guard that works there.
held() {
  for f in "$1/run.lock" "$1"/run.lock.*.children "$1/owner.json" "$1"/guard-*/run.lock; do
    if [ -e "${f%/*}/outcome.json" ]; then continue; fi
    if live "$f"; then
      n=$(sed -n -E "s/.*.fun.:.([a-z0-9_.]*)\".*/The function \1/p" "$f")
      case $f in
      */guard-*) n="A guard" ;;
      *.children) n="A command of a killed run" ;;
      esac
      echo "kept $1: ${n:-A run} works there as PID $p. Wait until it is done, or end it."
      k=1
      return 0
    fi
  done
  return 1
}

own() { [ -d "$1" ] && [ ! -h "$1" ] && [ -O "$1" ]; }

t=$1
case $t in [~]/*) t=$HOME/${t#??} ;; esac
for d in "$HOME/.cache/tsalt-ssh" "$HOME/.cache/tsalt-ssh"-$x16 "/var/tmp/tsalt-ssh-$u" "/var/tmp/tsalt-ssh-$u"-$x16 "/tmp/tsalt-ssh-$u" "/tmp/tsalt-ssh-$u"-$x16 "${t:-/dev/null}"-$x16; do
  if own "$d" && ! held "$d"; then
    rm -rf "$d" && echo "removed $d"
  fi
done
d=$t
if [ -n "$d" ] && own "$d" && ! held "$d"; then
  cd "$d" && rm -rf ./.node-* ./.pre-flight-* ./run.lock* ./reactions.* ./lost-run.json ./guard-*
  # shellcheck disable=SC2231 # globs
  for f in ./$x64.js* ./node-$x64 ./pre-flight-$x64; do
    rm -f "$f"
  done
  cd / && if rmdir "$d" 2>/dev/null; then
    echo "removed $d"
  else
    echo "emptied $d"
  fi
fi
exit $k
