import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'

export function addOpenApi(program: Command, cli: Cli): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI document that a server has at /openapi.json')
    .addHelpText('after', examples('openapi > openapi.json'))
  cli.does(command, async () => {
    const { openApiDocument } = await import('../../server/openapi.ts')
    const { codeVersion } = await import('../../model/version.ts')
    // Indented for people and for diffs, also into a pipe.
    cli.out.line(JSON.stringify(openApiDocument(codeVersion), undefined, 2))
  })
}
