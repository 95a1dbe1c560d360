# Starts the loader with the Node of the host, or with one that an earlier run uploaded.
#   $1 loader   $2 its config, base64   $3 thin_dir   $4 suffix of the workspace
#   $5 node_bin   $6 set_path   $7 "own" where the Node on PATH does not work
# An uploaded Node is run only from a directory that belongs to the user alone. Its name holds its
# SHA-256: a thin_dir may hold others.
. ./preamble.sh
. ./own.sh
. ./home.sh
[ -n "$6" ] && PATH=$6:$PATH
export PATH
home "$5"
n=$h
home "$3"
w=$h
if [ -z "$n" ]; then
  g="node-????????????????????????????????????????????????????????????????"
  # shellcheck disable=SC2231 # a glob
  for f in "$w$4"/$g "$HOME/.cache/tsalt-ssh$4"/$g "/var/tmp/tsalt-ssh-"*"$4"/$g "/tmp/tsalt-ssh-"*"$4"/$g; do
    if [ -x "$f" ]; then
      u=$(id -u)
      # shellcheck disable=SC2012,SC2046 # busybox has no stat; the fields become arguments
      own $(ls -ldn "${f%/*}") && n=$f
    fi
  done
fi
for c in node nodejs; do
  [ -n "$n" ] || [ "$7" = own ] || { command -v $c >/dev/null && n=$c; }
done
if [ -z "$n" ]; then
  . ./platform.sh
  echo
  echo "TSALT1-NONODE $(uname -s) $(uname -m) $l"
  exit 0
fi
exec "$n" -e "eval(decodeURIComponent(process.argv[1]))" "$1" "$2"
