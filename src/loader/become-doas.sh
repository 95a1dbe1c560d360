# Runs a program as another user by doas.
#   $1 printed first, when the password may be asked for   $2 user   the rest: the program
echo "$1" >&2
u=$2
shift 2
exec doas -u "$u" "$@"
