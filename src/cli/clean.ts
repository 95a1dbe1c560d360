/**
 * The shell command of `clean`: removes what runs leave on a host (artifacts, a Node that was
 * brought along) from the places where a workspace can be, if they belong to the login user.
 */
export const cleanCommand = `/bin/sh -c '${[
  'u=$(id -u)',
  'for d in "$HOME/.cache/tsalt-ssh" "/var/tmp/tsalt-ssh-$u" "/tmp/tsalt-ssh-$u"; do',
  'if [ -d "$d" ] && [ ! -h "$d" ] && [ -O "$d" ]; then rm -rf "$d" && echo "removed $d"; fi',
  'done',
].join('\n')}'`;
