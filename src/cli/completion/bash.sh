# Completion of tsalt-ssh for bash: source <(tsalt-ssh completion bash)
_tsalt_ssh_answer=@answer@

_tsalt_ssh() {
  local rest=${COMP_LINE:0:COMP_POINT} piece lead value text width i n=-1
  local -a words=() values=() texts=()
  # bash splits words at = and : too.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    lead=${rest%%[![:space:]]*}
    rest=${rest#"$lead"}
    [[ $rest == "$piece"* ]] || piece=$rest
    if [[ $n -lt 0 || -n $lead ]]; then
      n=$((n + 1))
      words[n]=$piece
    else
      words[n]+=$piece
    fi
    rest=${rest#"$piece"}
  done
  # What bash has split off stays as it is.
  [[ $piece == *[!=:@]* ]] || piece=
  local before=${words[n]}
  [[ -n $piece ]] && before=${before%"$piece"}
  before=${before//[\'\"\\]/}
  for ((i = 0; i <= n; i++)); do words[i]=${words[i]//[\'\"\\]/}; done
  # shellcheck disable=SC2088
  [[ ${words[0]} == '~/'* ]] && words[0]=$HOME/${words[0]:2}

  COMPREPLY=()
  while IFS=$'\t' read -r value text; do
    case $value in
      '#files') while IFS= read -r value; do values+=("$value"); texts+=(''); done \
        < <(compgen -f -- "${words[n]#--*=}") ; compopt -o filenames 2>/dev/null ;;
      '#folders') while IFS= read -r value; do values+=("$value"); texts+=(''); done \
        < <(compgen -d -- "${words[n]#--*=}") ; compopt -o filenames 2>/dev/null ;;
      *)
        values+=("${value#"$before"}")
        texts+=("$text")
        ;;
    esac
  done < <(sh -c "$_tsalt_ssh_answer" tsalt-ssh "${words[@]}")
  if [[ ${#values[@]} -eq 1 ]]; then
    COMPREPLY=("${values[0]}")
    [[ ${values[0]} == *[=.,/] ]] && compopt -o nospace 2>/dev/null
    return
  fi
  # Descriptions are only shown where bash lists: no two candidates are equal up to them.
  width=$((${COLUMNS:-80} - 4))
  for ((i = 0; i < ${#values[@]}; i++)); do
    if [[ $COMP_TYPE -ne 63 || -z ${texts[i]} ]]; then
      COMPREPLY+=("${values[i]}")
    else
      printf -v value '%-24s  %s' "${values[i]}" "${texts[i]}"
      COMPREPLY+=("${value:0:width}")
    fi
  done
}

complete -F _tsalt_ssh tsalt-ssh
