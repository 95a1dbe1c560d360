# Prints the candidates for the last of its arguments, which are the words of a command line up to
# the cursor: a line for each, the candidate, a tab and its description. `#files` and `#folders`
# leave the work to the shell. The answer comes from an index of the project, a private file that
# `tsalt-ssh completion index` writes; it is written again when one of its sources is newer.
program=$1
set -f
newline='
'

# The project is that of the options which are complete: not the word at the cursor.
config=${TSALT_CONFIG_DIR-} roster='' before='' left=$#
for word; do
  left=$((left - 1))
  [ "$left" -eq 0 ] && break
  case $before in
    -c | --config | --config-dir) config=$word ;;
    --roster-file) roster=$word ;;
  esac
  case $word in
    --config=* | --config-dir=*) config=${word#*=} ;;
    --roster-file=*) roster=${word#*=} ;;
  esac
  before=$word
done

key="$PWD|$config|$roster"
# As a file name: without slashes.
flat() {
  IFS=/
  # shellcheck disable=SC2086
  set -- $1
  IFS=%
  name="$*"
  unset IFS
}
case $key in *"$newline"*) exit 0 ;; esac
flat "$key"
[ "${#name}" -gt 200 ] && name="long-$(printf %s "$key" | cksum | tr ' ' -)"
home=${XDG_CACHE_HOME:-$HOME/.cache}/tsalt-ssh/completion
index=$home/$name

# A source that is gone changes its folder, which is a source too.
fresh() {
  [ -f "$index" ] && [ -O "$index" ] && [ -O "$home" ] || return 1
  IFS=$newline
  # shellcheck disable=SC2046
  set -- $(sed -n '/^[kw]/!q;p' "$index")
  unset IFS
  [ "${1-}" = "k	$key" ] || return 1
  shift
  for source; do
    # shellcheck disable=SC3013
    [ "${source#??}" -nt "$index" ] && return 1
  done
  return 0
}
if ! fresh; then
  "$program" ${config:+"--config=$config"} ${roster:+"--roster-file=$roster"} \
    completion index "$name" "$key" </dev/null >/dev/null 2>&1
  [ -f "$index" ] && [ -O "$index" ] && [ -O "$home" ] || exit 0
fi

shift
exec awk '
function show(value, text) {
  if (value in shown) return
  shown[value] = 1
  print value "\t" text
}
# Candidates of which each begins with `begun`, behind what is already complete of the word.
function offer(kinds) {
  wanted = kinds
}
function is(kind) {
  return index(wanted, " " kind " ") > 0
}
# A list with commas: what is before the last one is complete.
function at_comma() {
  if (match(begun, /.*,/)) {
    done = done substr(begun, 1, RLENGTH)
    begun = substr(begun, RLENGTH + 1)
  }
}
function of_option(takes) {
  if (takes == "files" || takes == "folders") print "#" takes
  else offer(" value ")
  place = takes
}
function sls_function(fun) {
  return fun ~ /^state\.(apply|sls|show_sls|show_low_sls|show_states|sls_exists|template|check_sls|highstate)$/
}
function of_word(    first, fun) {
  first = words[1]
  if (count == 0 && !local) {
    if (nodegroup) { offer(" group "); return }
    if (compound) {
      if (match(begun, /.*[ (!]/)) {
        done = substr(begun, 1, RLENGTH)
        begun = substr(begun, RLENGTH + 1)
      }
      if (begun ~ /^N@/) { done = done "N@"; begun = substr(begun, 3); offer(" group "); return }
      if (begun ~ /^L@/) { done = done "L@"; begun = substr(begun, 3); at_comma() }
      offer(" host ")
      return
    }
    if (list) at_comma()
    if (regex || list) offer(" host ")
    else if (begun ~ /^@/) offer(" place ")
    else if (!other) offer(raw ? " host " : " host command ")
    return
  }
  if (!local && !raw && !nodegroup && !compound && !list && !regex && !other && of_command()) return
  if (local) { for (at = count; at > 0; at--) words[at + 1] = words[at]; count++ }
  if (raw) return
  if (count == 1) { offer(" fun "); return }
  fun = words[2]
  of_argument(fun, count - 1)
}
# The words of a command: `<host>` and others in brackets are kinds.
function of_command(    at, name, rest, places, number, choice) {
  name = count > 1 && (words[1] " " words[2]) in commands ? words[1] " " words[2] : words[1]
  if (count == 1) for (at in commands) if (index(at, words[1] " ") == 1) {
    show_begun(substr(at, length(words[1]) + 2), summaries[at])
    rest = 1
  }
  if (!(name in commands)) return rest
  number = split(commands[name], places, "\034")
  at = count - split(name, choice, " ") + 1
  if (at < 1 || at > number) return 1
  number = split(places[at], choice, "\035")
  for (at = 1; at <= number; at++) {
    if (choice[at] == "<folder>") print "#folders"
    else if (choice[at] ~ /^</) wanted = wanted " " substr(choice[at], 2, length(choice[at]) - 2) " "
    else show_begun(choice[at], "")
  }
  if (is("function")) offer(" fun ")
  return 1
}
function show_begun(value, text) {
  if (index(value, begun) == 1) show(done value, text)
}
function of_argument(fun, number,    key) {
  if (match(begun, /^[A-Za-z_]+=/)) {
    key = substr(begun, 1, RLENGTH - 1)
    done = substr(begun, 1, RLENGTH)
    begun = substr(begun, RLENGTH + 1)
    if (key == "saltenv" || key == "pillarenv") { offer(" env "); return }
    if (key == "test") { show_begun("True", ""); show_begun("False", ""); return }
    if (key == "mods" || key == "exclude") { at_comma(); offer(" sls "); return }
    argument = key
    callee = fun
    offer(" choice ")
    return
  }
  callee = fun
  if (fun == "state.single") {
    if (number == 1) { offer(" statefun "); return }
    callee = words[3]
    offer(" statearg ")
    return
  }
  if (fun ~ /^sys\.(doc|argspec|list_functions)$/) { offer(" fun "); return }
  if (fun ~ /^sys\.(state_doc|state_argspec|state_schema)$/) { offer(" statefun "); return }
  if (fun == "state.sls_id" || fun == "state.show_sls_id" || fun == "state.sls_ids") {
    offer(number == 1 ? " id arg " : " sls arg ")
    return
  }
  if (sls_function(fun)) { at_comma(); offer(done == "" ? " sls arg " : " sls "); return }
  offer(" arg ")
}
function flags(word,    at, letter) {
  if (word ~ /^--/) {
    nodegroup = nodegroup || word == "--nodegroup"
    compound = compound || word == "--compound"
    list = list || word == "--list"
    regex = regex || word == "--pcre"
    raw = raw || word == "--raw" || word == "--raw-shell"
    local = local || word == "--local"
    other = other || word ~ /^--(grain|grain-pcre|pillar|pillar-pcre|ipcidr)$/
    return
  }
  for (at = 2; at <= length(word); at++) {
    letter = substr(word, at, 1)
    nodegroup = nodegroup || letter == "N"
    compound = compound || letter == "C"
    list = list || letter == "L"
    regex = regex || letter == "E"
    raw = raw || letter == "r"
    other = other || letter ~ /[GPIJS]/
  }
}
# The index has options and commands first, so that the rest is read once.
function start(    at, word, name, open, rest) {
  started = 1
  for (at = 1; at < size; at++) {
    word = given[at]
    if (open != "") { open = ""; continue }
    if (word == "--" && !rest) { rest = 1; continue }
    if (rest || word !~ /^-./) { words[++count] = word; continue }
    flags(word)
    name = word ~ /^--/ ? word : "-" substr(word, length(word))
    open = name in takes ? takes[name] : ""
  }
  begun = given[size]
  done = ""
  if (open != "") of_option(open)
  else if (!rest && match(begun, /^--[a-z_-]+=/)) {
    done = substr(begun, 1, RLENGTH)
    name = substr(begun, 1, RLENGTH - 1)
    begun = substr(begun, RLENGTH + 1)
    if (name in takes) of_option(takes[name])
  } else if (!rest && begun ~ /^-/) {
    for (at = 1; at <= options; at++) if (index(option[at], begun) == 1) show(option[at], help[at])
    wanted = ""
  } else of_word()
  if (wanted == "") exit
  module = index(begun, ".") == 0
}
function see_function(    dot) {
  dot = index($2, ".")
  if (!module) { if (index($2, begun) == 1) show($2, $3); return }
  if (index($2, begun) != 1) return
  name = substr($2, 1, dot)
  if (!(name in modules)) { modules[name] = 1; many++; last = name }
  kept[++all] = $2
  text[all] = $3
}
BEGIN {
  FS = "\t"
  size = ARGC - 2
  for (at = 1; at <= size; at++) given[at] = ARGV[at + 1]
  ARGC = 2
}
$1 == "k" || $1 == "w" { next }
$1 == "o" {
  if ($3 != "") takes[$2] = $3
  if ($5 == "") { option[++options] = $2; help[options] = $4 }
  next
}
$1 == "c" { commands[$2] = $4; summaries[$2] = $3; next }
!started { start() }
$1 == "fun" && is("fun") { see_function(); next }
$1 == "statefun" && is("statefun") { see_function(); next }
$1 == "modhelp" { about[$2] = $3; next }
$1 == "value" { if (is("value") && $2 == place) show_begun($3, $4); next }
$1 == "arg" && is("choice") || $1 == "statearg" && is("choice") && words[2] == "state.single" {
  if ($2 != callee || $3 != argument "=") next
  number = split($5, choice, " ")
  for (at = 1; at <= number; at++) show_begun(choice[at], "")
  next
}
$1 == "arg" || $1 == "statearg" {
  if (is($1) && $2 == callee) show_begun($3, $4)
  next
}
$1 == "command" { next }
is($1) { show_begun($2, $3) }
END {
  if (!started) start()
  if (is("command")) for (name in summaries) {
    split(name, choice, " ")
    if (choice[1] == name || !(choice[1] in summaries)) show_begun(choice[1], summaries[choice[1]])
  }
  if (!module) exit
  for (at = 1; at <= all; at++) if (many == 1) show(kept[at], text[at])
  if (many > 1) for (name in modules) show(name, about[name])
}
' "$index" "$@"
