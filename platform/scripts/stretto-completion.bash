# SPDX-License-Identifier: Apache-2.0
# Completion of `stretto` for bash: subcommands, options, workloads, machines, modes, parameters. Asks the
# executable that is being typed, so it knows what that one knows.
#
#   source platform/scripts/stretto-completion.bash

# Options of a subcommand, from its help text.
_stretto_options() {
  "$1" "$2" ${3:+"$3"} --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_stretto_names() {
  "$1" list --names "${@:2}" 2>/dev/null
}

_stretto() {
  local executable=${COMP_WORDS[0]} command=${COMP_WORDS[1]:-} current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]} words="" word
  # Bash splits at "=": --set KEY=VALUE completes the key.
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$executable" list --names commands 2>/dev/null)
    COMPREPLY=($(compgen -W "$words --help --version" -- "$current"))
    return
  fi
  local first=""  # The first word that is no option: workload, machine or reproduction.
  for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    case $word in -*) break ;; *) first=$word && break ;; esac
  done
  case $previous in
    --machine | --machines) words=$(_stretto_names "$executable" machines) ;;
    --mode | --modes) words=$(_stretto_names "$executable" modes ${first:+"$first"}) ;;
    --set) compopt -o nospace 2>/dev/null; words=$(_stretto_names "$executable" parameters | sed 's/$/=/') ;;
    --impl) compopt -o nospace 2>/dev/null; words="all= $(_stretto_names "$executable" blocks | sed 's/$/=/')" ;;
    --waves) words=$(_stretto_names "$executable" blocks) ;;
    --data) words="stamp real" ;;
    --out | --firmware) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --seed | --time-limit | --waves-limit | --jobs | --figure | --cases) return ;;
    *)
      if [ "${current:0:1}" = - ]; then
        words=$(_stretto_options "$executable" "$command" "$([ "$command" = reproduce ] && echo "$first")")
      else
        case $command in
          run) [ -n "$first" ] || words=$(_stretto_names "$executable" workloads) ;;
          show) [ -n "$first" ] || words=$(_stretto_names "$executable" machines) ;;
          reproduce) [ -n "$first" ] || words=$(_stretto_names "$executable" reproductions) ;;
          list) [ -n "$first" ] || words=$(_stretto_names "$executable" topics) ;;
        esac
        # A workload, machine or result may be a file or folder.
        case $command in run | show | report | compare) COMPREPLY=($(compgen -f -- "$current")) ;; esac
      fi
      ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$current"))
}

complete -o filenames -F _stretto stretto
