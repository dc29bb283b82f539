import { Argument, type Command } from 'commander'
import type { Cli } from '../cli.ts'
import { completionScript, shells, type Shell } from '../completion-script.ts'
import { examples } from '../examples.ts'

export function addCompletion(program: Command, cli: Cli): void {
  const command = program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      examples(
        'completion bash > ~/.local/share/bash-completion/completions/flowfabric',
        'completion zsh > "${fpath[1]}/_flowfabric"',
        'completion fish > ~/.config/fish/completions/flowfabric.fish',
      ),
    )
  cli.does(command, async (_: object, shell: Shell) => {
    cli.out.write(completionScript(shell, program))
  })
}
