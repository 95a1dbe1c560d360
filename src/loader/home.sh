# `~/` of a roster path is the home of the user who runs this.
home() {
  case $1 in
  [~]/*) echo "$HOME/${1#??}" ;;
  *) echo "$1" ;;
  esac
}
