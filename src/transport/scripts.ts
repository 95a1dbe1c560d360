/**
 * The POSIX scripts that run on hosts. They use no quote, no backslash and no exclamation
 * mark, so that they fit between single quotes in every login shell, and only what every Debian,
 * Alpine or busybox system has. `shell.ts` makes each one line.
 */

const preamble = `
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE
command -v uname >/dev/null || PATH=$PATH:/usr/bin:/bin
case :$PATH: in *:/usr/sbin:*) ;; *) PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin ;; esac
`;

/** `~/` of a roster path is the home of the user who runs this. */
const home = `home() { case $1 in [~]/*) echo "$HOME/\${1#??}" ;; *) echo "$1" ;; esac ; }`;

/** Is this directory ours alone? Takes the fields of `ls -ldn`. */
const own = 'own() { case $1 in drwx------*) [ "$3" = "$u" ] ;; *) false ;; esac ; }';

/** A Node that we brought, as a glob: its SHA-256 is in its name. A `thin_dir` may hold others. */
const nodeName = `node-${'?'.repeat(64)}`;

const platform = `
l=none
for f in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2; do [ -e "$f" ] && l=glibc; done
for f in /lib/ld-musl-*; do [ -e "$f" ] && [ $l = none ] && l=musl; done
`;

/**
 * `$1` loader, `$2` its config in base64; `$3` thin_dir, `$4` suffix of the workspace,
 * `$5` node_bin, `$6` set_path, `$7` `own` where the host's own Node does not work. A Node that
 * we brought is only run from a directory that is ours alone.
 */
export const findNode = `
${preamble}
${own}
${home}
[ -n "$6" ] && PATH=$6:$PATH
export PATH
n=$(home "$5")
w=$(home "$3")
if [ -z "$n" ]; then
g=${nodeName}
for f in "$w$4"/$g "$HOME/.cache/tsalt-ssh$4"/$g "/var/tmp/tsalt-ssh-"*"$4"/$g "/tmp/tsalt-ssh-"*"$4"/$g; do
if [ -x "$f" ]; then
u=$(id -u)
own $(ls -ldn "\${f%/*}") && n=$f
fi
done
fi
[ -n "$n" ] || [ "$7" = own ] || n=$(command -v node || command -v nodejs)
if [ -z "$n" ]; then
${platform}
echo
echo "TSALT1-NONODE $(uname -s) $(uname -m) $l"
exit 0
fi
exec "$n" -e "eval(decodeURIComponent(process.argv[1]))" "$1" "$2"
`;

/** What runs that were killed amid their work left in `$p`, an hour ago or more. */
const discardHalves = `find "$p" -maxdepth 1 "(" -name ".node-*" -o -name ".pre-flight-*" ")" -mmin +60 -exec rm -rf {} + 2>/dev/null`;

/** Finds `$p`, the first place of `$1` thin_dir with suffix `$2` that can take and run a Node. */
const placeForNode = `
umask 077
u=$(id -u)
p=
w=$(home "$1")
room() { [ -z "$4" ] || [ "$4" -gt 140000 ] ; }
for d in "\${w:+$w$2}" "$HOME/.cache/tsalt-ssh$2" "/var/tmp/tsalt-ssh-$u$2" "/tmp/tsalt-ssh-$u$2"; do
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
${discardHalves}
`;

/**
 * `$1` thin_dir, `$2` suffix, `$3` SHA-256 of the Node binary, `$4` bytes that follow on stdin
 * when `$5` is `count`. Takes the gzipped binary into the first place that has room and may
 * hold programs.
 */
export const takeNode = `
${preamble}
${own}
${home}
export PATH
${placeForNode}
t=$p/.node-$$
echo "TSALT1-SEND"
if [ "$5" = count ]; then head -c "$4" | gzip -dc >"$t"; else gzip -dc >"$t"; fi
h=
if [ -s "$t" ]; then
chmod 700 "$t"
if command -v sha256sum >/dev/null; then h=$(sha256sum <"$t"); h=\${h%% *}; else h=$("$t" -p "require(process.argv[1]).createHash(process.argv[2]).update(require(process.argv[3]).readFileSync(process.execPath)).digest(process.argv[4])" crypto sha256 fs hex); fi
fi
if [ "$h" = "$3" ]; then
if v=$("$t" --version 2>&1); then
for f in "$p"/${nodeName}; do rm -f "$f"; done
mv -f "$t" "$p/node-$3"
echo "TSALT1-DONE $v"
else
rm -f "$t"
echo "TSALT1-FAILED run" $v
fi
else
rm -f "$t"
echo "TSALT1-FAILED hash"
fi
`;

/**
 * `$1` thin_dir, `$2` suffix, `$3` SHA-256 of what follows on stdin, `$4` a random name, `$5`
 * `always` or nothing, `$6` bytes of the script, `$7` bytes in all (the script and what starts
 * it), `$8` set_path. A script that has run leaves its hash, and does not run again.
 */
export const preFlight = `
${preamble}
${own}
${home}
[ -n "$8" ] && PATH=$8:$PATH
export PATH
umask 077
u=$(id -u)
p=
w=$(home "$1")
for d in "\${w:+$w$2}" "$HOME/.cache/tsalt-ssh$2" "/var/tmp/tsalt-ssh-$u$2" "/tmp/tsalt-ssh-$u$2"; do
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
${discardHalves}
t=$p/.pre-flight-$4
gone() { rm -rf "$t" ; }
trap gone 0
trap "exit 1" 1 2 15
if [ -z "$5" ] && [ -f "$p/pre-flight-$3" ]; then
gone
echo "TSALT1-DONE before"
exit 0
fi
echo "TSALT1-SEND"
head -c "$7" >"$t/all"
if command -v sha256sum >/dev/null; then h=$(sha256sum <"$t/all"); else h=$(openssl dgst -sha256 -r <"$t/all"); fi
h=\${h%% *}
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
[ -n "$h" ] && h=hash
echo "TSALT1-FAILED \${h:-tool}"
fi
`;

/** Adds the line on stdin to the login user's `authorized_keys`, once. */
export const authorizeKey = `
umask 077
k=$(cat)
d=$HOME/.ssh
f=$d/authorized_keys
mkdir -p "$d" || exit 1
grep -qxF -e "$k" "$f" 2>/dev/null && exit 0
if [ -s "$f" ] && [ -n "$(tail -c 1 "$f")" ]; then
echo >>"$f" || exit 1
fi
echo "$k" >>"$f"
`;

/**
 * `$1` thin_dir, `$2` suffix, `$3` SHA-256 of the archive at the URL `$4`, `$5` the binary's path
 * in it: the host downloads its Node itself.
 */
export const pullNode = `
${preamble}
${own}
${home}
export PATH
${placeForNode}
t=$p/.node-$$
curl -fsSL -o "$t.tgz" "$4" 2>/dev/null || wget -q -O "$t.tgz" "$4" 2>/dev/null || rm -f "$t.tgz"
r=fetch
if [ -s "$t.tgz" ]; then
r=hash
if command -v sha256sum >/dev/null; then h=$(sha256sum <"$t.tgz"); else h=$(openssl dgst -sha256 -r <"$t.tgz"); fi
if [ "\${h%% *}" = "$3" ]; then
r=run
tar -xzOf "$t.tgz" "$5" >"$t" 2>/dev/null
chmod 700 "$t"
if v=$("$t" --version 2>&1); then
for f in "$p"/${nodeName}; do rm -f "$f"; done
mv -f "$t" "$p/node-$3"
r=
fi
fi
fi
rm -f "$t.tgz" "$t"
if [ -z "$r" ]; then echo "TSALT1-DONE $v"; else echo "TSALT1-FAILED $r" $v; fi
`;
