// The words that a shell completes, as they are when the script is generated. No command runs at the prompt.
import { shellQuote } from './shell-quote.ts'
import type { Command, Option } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

interface Place {
  /** The command words before this place: `schedule put`. */
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Option[]
  /** The choices of the first argument, if it has any. */
  readonly words: readonly string[]
}

export function completionScript(shell: Shell, program: Command): string {
  const places = placesOf(program, [], [])
  if (shell === 'fish') return fish(places)
  return shell === 'bash' ? bash(places) : zsh(places)
}

function placesOf(command: Command, path: readonly string[], above: readonly Option[]): Place[] {
  const help = command.createHelp()
  const options = [...command.options.filter((option) => !option.hidden), ...above]
  const commands = help.visibleCommands(command).filter((each) => each.name() !== 'help')
  const place: Place = {
    path: path.join(' '),
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options,
    words: command.registeredArguments[0]?.argChoices ?? [],
  }
  return [place, ...commands.flatMap((each) => placesOf(each, [...path, each.name()], options))]
}

function wordsOf({ commands, options, words }: Place): string {
  const flags = options.flatMap((option) => option.long ?? [])
  return [...commands.map((each) => each.name), ...words, ...flags, '--help'].join(' ')
}

/** The choices for the value of each option. */
function choicesOf(places: readonly Place[]): Map<string, string> {
  const choices = new Map<string, string>()
  for (const { path, options } of places) {
    for (const { long, argChoices } of options) {
      if (long !== undefined && argChoices !== undefined) choices.set(`${path} ${long}`.trim(), argChoices.join(' '))
    }
  }
  return choices
}

function bash(places: readonly Place[]): string {
  const cases = (entries: Iterable<readonly [string, string]>): string =>
    [...entries].map(([key, words]) => `    ${shellQuote(key)}) words=${shellQuote(words)} ;;`).join('\n')
  return `# bash completion of flowfabric
_flowfabric() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place="" words="" word next index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    next="\${place:+$place }$word"
    case "$next" in
      ${places
        .slice(1)
        .map(({ path }) => shellQuote(path))
        .join('|')}) place="$next" ;;
    esac
  done
  case "$place" in
${cases(places.map((place) => [place.path, wordsOf(place)]))}
  esac
  case "\${place:+$place }$previous" in
${cases(choicesOf(places))}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _flowfabric flowfabric
`
}

function zsh(places: readonly Place[]): string {
  return `#compdef flowfabric
autoload -U +X bashcompinit && bashcompinit
${bash(places)}`
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const here = shellQuote(`__flowfabric_at ${place.path}`.trim())
    const commands = place.commands.map(
      ({ name, description }) => `complete -c flowfabric -f -n ${here} -a ${name} -d ${shellQuote(description)}`,
    )
    const words = place.words.map((word) => `complete -c flowfabric -f -n ${here} -a ${word}`)
    const options = place.options.flatMap(({ long, description, required, argChoices }) => {
      if (long === undefined) return []
      const takes = argChoices === undefined ? (required ? ' -r' : '') : ` -x -a ${shellQuote(argChoices.join(' '))}`
      return `complete -c flowfabric -n ${here} -l ${long.slice(2)}${takes} -d ${shellQuote(description)}`
    })
    return [...commands, ...words, ...options]
  })
  const paths = places.slice(1).map(({ path }) => shellQuote(path))
  return `# fish completion of flowfabric
function __flowfabric_at
  set -l place
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    set -l next (string trim -- "$place $word")
    contains -- "$next" ${paths.join(' ')}; and set place $next
  end
  test "$place" = "$argv"
end
${lines.join('\n')}
`
}
