#compdef tsalt-ssh
# Completion of tsalt-ssh for zsh: source <(tsalt-ssh completion zsh), or as the file _tsalt-ssh
# in a folder of $fpath.
_tsalt_ssh() {
  local answer=@answer@
  local -a lines whole whole_shown open open_shown
  local line value shown
  lines=("${(@f)$(sh -c "$answer" tsalt-ssh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")}")
  for line in "${(@)lines}"; do
    value=${line%%$'\t'*}
    shown=${line#*$'\t'}
    case $value in
      '') continue ;;
      '#files') compset -P '--*='; _files; return ;;
      '#folders') compset -P '--*='; _files -/; return ;;
    esac
    if [[ -n $shown ]]; then shown="${(r:24:)value}  $shown"; else shown=$value; fi
    shown=${shown[1,COLUMNS-2]}
    if [[ $value == *[=.,/] ]]; then
      open+=("$value")
      open_shown+=("$shown")
    else
      whole+=("$value")
      whole_shown+=("$shown")
    fi
  done
  compadd -l -d whole_shown -a whole
  compadd -l -S '' -d open_shown -a open
}
if [[ ${funcstack[1]} == _tsalt-ssh ]]; then
  _tsalt_ssh "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _tsalt_ssh tsalt-ssh
fi
