# Finds $p, the first place of $1 thin_dir with suffix $2 that has room for a Node of $4 bytes
# (packed) and may hold programs.
umask 077
u=$(id -u)
p=
home "$1"
w=$h
room() { [ -z "$4" ] || [ "$4" -gt 140000 ]; }
for d in "${w:+$w$2}" "$HOME/.cache/tsalt-ssh$2" "/var/tmp/tsalt-ssh-$u$2" "/tmp/tsalt-ssh-$u$2"; do
  # shellcheck disable=SC2012,SC2046 # busybox has no stat; the fields become arguments
  if [ -z "$p" ] && [ -n "$d" ] && mkdir -p "$d" 2>/dev/null && own $(ls -ldn "$d") && room $(df -Pk "$d" 2>/dev/null | tail -n 1); then
    t=$d/.node-$$
    echo : 2>/dev/null >"$t" && chmod 700 "$t" && [ -x "$t" ] && "$t" 2>/dev/null && p=$d
    rm -f "$t"
  fi
done
echo
if [ -z "$p" ]; then
  echo "TSALT1-FAILED place"
  exit 0
fi
. ./discard-halves.sh
