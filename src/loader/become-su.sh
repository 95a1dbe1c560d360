# Runs a program as another user by su; it asks for that user's password.
#   $1 printed first, when the password may be asked for   $2 shell command that runs the rest
#   $3 user   the rest: the program and its arguments
# The program is the last word as a whole: no command line is quoted twice.
echo "$1" >&2
c=$2 u=$3
shift 3
exec su -s /bin/sh -c "$c" -- "$u" "$@"
