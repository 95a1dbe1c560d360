# home PATH: sets $h to the path; `~/` of a roster path is the home of the user who runs this. It
# prints nothing, because a command substitution forks the shell, which costs about a millisecond.
home() {
  case $1 in
  [~]/*) h=$HOME/${1#??} ;;
  *) h=$1 ;;
  esac
}
