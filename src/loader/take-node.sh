# Takes a gzipped Node from stdin into the first place that has room and may hold programs.
#   $1 thin_dir   $2 suffix   $3 SHA-256 of the binary
#   $4 bytes that follow on stdin, when $5 is "count"; else stdin ends after them
. ./preamble.sh
. ./own.sh
. ./home.sh
export PATH
. ./place-for-node.sh
t=$p/.node-$$
echo "TSALT1-SEND"
if [ "$5" = count ]; then
  head -c "$4" | gzip -dc >"$t"
else
  gzip -dc >"$t"
fi
h=
if [ -s "$t" ]; then
  chmod 700 "$t"
  if command -v sha256sum >/dev/null; then
    h=$(sha256sum <"$t")
    h=${h%% *}
  else
    h=$("$t" -p "require(process.argv[1]).createHash(process.argv[2]).update(require(process.argv[3]).readFileSync(process.execPath)).digest(process.argv[4])" crypto sha256 fs hex)
  fi
fi
if [ "$h" = "$3" ]; then
  if v=$("$t" --version 2>&1); then
    rm -f "$p"/node-????????????????????????????????????????????????????????????????
    mv -f "$t" "$p/node-$3"
    echo "TSALT1-DONE $v"
  else
    rm -f "$t"
    # shellcheck disable=SC2086 # its lines become one
    echo "TSALT1-FAILED run" $v
  fi
else
  rm -f "$t"
  echo "TSALT1-FAILED hash"
fi
