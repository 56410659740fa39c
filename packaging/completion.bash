# Completion of tether in bash: commands, options, scenes and kept runs, as the program itself names them.
_tether() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words run=
  [[ $command =~ ^(verify|replay|export|compare)$ || ( $command == run && ${COMP_WORDS[COMP_CWORD - 1]} == --from ) ]] && run=yes
  if [ "$COMP_CWORD" = 1 ]; then
    words="$("${COMP_WORDS[0]}" --help | sed -nE 's/^  tether ([a-z]+) .*/\1/p') --help --version"
  elif [[ $word == -* ]]; then
    words="$("${COMP_WORDS[0]}" "$command" --help | sed -nE 's/^  (--[a-z_-]+).*/\1/p') --help"
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --pace ]]; then
    words='realtime lockstep fast'
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --language ]]; then
    words='python java c cpp'
  elif [[ $run || ( $command == runs && $COMP_CWORD != 2 ) ]]; then
    words=$("${COMP_WORDS[0]}" runs --names)
  elif [[ $command == run || $command == check || $command == client || ( $command == new && $COMP_CWORD == 2 ) ]]; then
    words=$("${COMP_WORDS[0]}" --help | sed -nE 's/^Scenes: //p' | tr -d ,)
  elif [[ $command == runs && $COMP_CWORD == 2 ]]; then
    words='list show set pin unpin remove'
  elif [[ $command == telemetry && $COMP_CWORD == 2 ]]; then
    words='seal unseal remove backup copy'
  elif [[ $command == token && $COMP_CWORD == 2 ]]; then
    words='list new remove'
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --role ]]; then
    words='watch drive administer'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  # A run may also be given by its file.
  [[ $run && $word != -* ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
}
complete -o bashdefault -o default -F _tether tether
