# own $(ls -ldn DIR): does this directory belong to the user $u alone?
own() {
  case $1 in
  drwx------*) [ "$3" = "$u" ] ;;
  *) false ;;
  esac
}
