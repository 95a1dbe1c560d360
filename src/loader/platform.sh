# The C library of the host, as $l.
l=none
for f in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2; do
  [ -e "$f" ] && l=glibc
done
for f in /lib/ld-musl-*; do
  [ -e "$f" ] && [ $l = none ] && l=musl
done
