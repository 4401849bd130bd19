# SPDX-License-Identifier: Apache-2.0
# Completion of `stretto` for bash: subcommands, options, workloads, machines, modes, parameters, values. Asks the
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

# What a parameter (--set) or block (--impl) may be.
_stretto_values() {
  case $2 in
    --set | --vary) _stretto_names "$1" values "$3" ;;
    --impl) echo rtl; echo model; echo lockstep ;;
  esac
}

_stretto() {
  local executable=${COMP_WORDS[0]} command=${COMP_WORDS[1]:-} current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]} words="" word
  COMPREPLY=()
  # Bash splits at "=" where COMP_WORDBREAKS has it: KEY = VALUE are three words then.
  local key=""
  if [ "$previous" = = ]; then
    key=${COMP_WORDS[COMP_CWORD - 2]} previous=${COMP_WORDS[COMP_CWORD - 3]}
  elif [ "$current" = = ]; then
    key=$previous previous=${COMP_WORDS[COMP_CWORD - 2]} current=""
  elif [[ ${current} == *=* && ( $previous == --set || $previous == --vary || $previous == --impl ) ]]; then
    key=${current%%=*}
    words=$(_stretto_values "$executable" "$previous" "$key" | sed "s/^/$key=/")
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  if [ -n "$key" ]; then
    case $previous in
      --set | --vary | --impl) words=$(_stretto_values "$executable" "$previous" "$key") ;;
      # --data=stamp.
      *) case $key in --data) words="stamp real" ;; --machine) words=$(_stretto_names "$executable" machines) ;; esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
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
    --machine | --machines) COMPREPLY=($(compgen -f -X '!*.yaml' -- "$current")); words=$(_stretto_names "$executable" machines) ;;
    --mode | --modes) words=$(_stretto_names "$executable" modes ${first:+"$first"}) ;;
    --vary) compopt -o nospace 2>/dev/null
      words="mode= machine= $(_stretto_names "$executable" parameters | sed 's/$/=/')" ;;
    --set) compopt -o nospace 2>/dev/null; words=$(_stretto_names "$executable" parameters | sed 's/$/=/') ;;
    --impl) compopt -o nospace 2>/dev/null; words="all= $(_stretto_names "$executable" blocks | sed 's/$/=/')" ;;
    --waves) words=$(_stretto_names "$executable" blocks) ;;
    --data) words="stamp real" ;;
    --out | --firmware | --preload) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --seed | --time-limit | --waves-limit | --jobs | --figure | --cases) return ;;
    *)
      if [ "${current:0:1}" = - ]; then
        words=$(_stretto_options "$executable" "$command" "$([ "$command" = reproduce ] && echo "$first")")
      else
        case $command in
          run | sweep | characterise) [ -n "$first" ] || words=$(_stretto_names "$executable" workloads) ;;
          show) [ -n "$first" ] || words="$(_stretto_names "$executable" machines) $(_stretto_names "$executable" workloads)" ;;
          reproduce) [ -n "$first" ] || words=$(_stretto_names "$executable" reproductions) ;;
          list) [ -n "$first" ] || words=$(_stretto_names "$executable" topics) ;;
        esac
        # A machine, workload or result may be a file or folder.
        case $command in
          run | show | sweep | characterise)
            COMPREPLY=($(compgen -f -X '!*.yaml' -- "$current") $(compgen -d -- "$current"))
            [ "$command" = show ] || COMPREPLY+=($(compgen -f -X '!*.so' -- "$current"))
            # Graphs.
            [ "$command" != run ] || COMPREPLY+=($(compgen -f -X '!*.onnx' -- "$current")) ;;
          report | compare) COMPREPLY=($(compgen -d -- "$current")) ;;
        esac
      fi
      ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$current"))
}

complete -o filenames -F _stretto stretto
