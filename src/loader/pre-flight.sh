# Runs the user's pre-flight script, which arrives on stdin. One that has run leaves its hash, and
# does not run again.
#   $1 thin_dir   $2 suffix   $3 SHA-256 of stdin   $4 a random name   $5 "always" or nothing
#   $6 bytes of the script   $7 bytes in all (the script and what starts it)   $8 set_path
. ./preamble.sh
. ./own.sh
. ./home.sh
[ -n "$8" ] && PATH=$8:$PATH
export PATH
umask 077
u=$(id -u)
p=
home "$1"
w=$h
for d in "${w:+$w$2}" "$HOME/.cache/tsalt-ssh$2" "/var/tmp/tsalt-ssh-$u$2" "/tmp/tsalt-ssh-$u$2"; do
  # shellcheck disable=SC2012,SC2046 # busybox has no stat; the fields become arguments
  if [ -z "$p" ] && [ -n "$d" ] && mkdir -p "$d" 2>/dev/null && own $(ls -ldn "$d") && mkdir "$d/.pre-flight-$4" 2>/dev/null; then
    t=$d/.pre-flight-$4
    echo : 2>/dev/null >"$t/script" && chmod 700 "$t/script" && "$t/script" 2>/dev/null && p=$d
    [ -n "$p" ] || rm -rf "$t"
  fi
done
echo
if [ -z "$p" ]; then
  echo "TSALT1-FAILED place"
  exit 0
fi
. ./discard-halves.sh
t=$p/.pre-flight-$4
gone() { rm -rf "$t"; }
trap gone 0
trap "exit 1" 1 2 15
if [ -z "$5" ] && [ -f "$p/pre-flight-$3" ]; then
  gone
  echo "TSALT1-DONE before"
  exit 0
fi
echo "TSALT1-SEND"
head -c "$7" >"$t/all"
if command -v sha256sum >/dev/null; then
  h=$(sha256sum <"$t/all")
else
  h=$(openssl dgst -sha256 -r <"$t/all")
fi
h=${h%% *}
if [ "$h" = "$3" ]; then
  head -c "$6" <"$t/all" >"$t/script"
  tail -c "+$(($6 + 1))" <"$t/all" >"$t/start"
  /bin/sh "$t/start" "$t/script" </dev/null >&2
  r=$?
  [ "$r" = 0 ] && echo 2>/dev/null >"$p/pre-flight-$3"
  gone
  echo
  echo "TSALT1-DONE $r"
else
  gone
  [ -n "$h" ] && h="hash"
  echo "TSALT1-FAILED ${h:-tool}"
fi
