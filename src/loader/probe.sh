# Describes a host for tsalt-ssh doctor: lines of a word and a value.
#   $1 thin_dir   $2 node_bin   $3 set_path
. ./preamble.sh
. ./home.sh
[ -n "$3" ] && PATH=$3:$PATH
export PATH
p="TSALT-PROBE"
u=$(id -u)
echo
echo "$p user $(id -un)"
echo "$p time $(date +%s)"
echo "$p system $(uname -s) $(uname -m)"
home "$2"
n=$h
[ -n "$n" ] || n=$(command -v node || command -v nodejs)
if [ -n "$n" ]; then
  v=$("$n" --version 2>/dev/null | tail -n 1)
  echo "$p node $n ${v:-broken}"
fi
home "$1"
w=$h
f=
for d in "$w" "$HOME/.cache/tsalt-ssh" "/var/tmp/tsalt-ssh-$u" "/tmp/tsalt-ssh-$u"; do
  if [ -n "$d" ] && [ -z "$f" ]; then
    e=$d
    until [ -z "$e" ] || [ -d "$e" ]; do
      e=${e%/*}
    done
    e=${e:-/}
    t=$e/.tsalt-probe-$$
    x=
    if echo : 2>/dev/null >"$t"; then
      f=$d
      x=noexec
      chmod 700 "$t" && "$t" 2>/dev/null && x="exec"
    fi
    rm -f "$t" 2>/dev/null
    echo "$p place ${x:-unwritable} $d"
    echo "$p space $(df -Pk "$e" 2>/dev/null | tail -n 1 | tr -s " " | cut -d" " -f4)"
  fi
done
