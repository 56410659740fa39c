# Completion of tether in bash: commands, options and scenes, as the program itself names them.
_tether() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" = 1 ]; then
    words="$("${COMP_WORDS[0]}" --help | sed -nE 's/^  tether ([a-z]+) .*/\1/p') --help --version"
  elif [[ $word == -* ]]; then
    words="$("${COMP_WORDS[0]}" "$command" --help | sed -nE 's/^  (--[a-z_-]+).*/\1/p') --help"
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --pace ]]; then
    words='realtime lockstep fast'
  elif [[ $command == run || $command == check ]]; then
    words=$("${COMP_WORDS[0]}" --help | sed -nE 's/^Scenes: //p' | tr -d ,)
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o bashdefault -o default -F _tether tether
