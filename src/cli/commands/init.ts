import { access, mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { EngineError } from '../../model/errors.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { projectFiles } from '../project.ts'

export function addInit(program: Command, cli: Cli): void {
  const command = program
    .command('init')
    .description('create a small project: a task, its test, and a script that runs it')
    .argument('[directory]', 'directory to use; created if missing', '.')
    .addHelpText('after', examples('init my-app'))
  cli.does(command, async (_: object, directory: string) => {
    const place = resolve(directory)
    const files = projectFiles(packageName(place))
    await refuseExisting(place, [...files.keys()])
    await mkdir(place, { recursive: true })
    // Never overwrites a file that was created meanwhile.
    for (const [path, text] of files) await writeFile(join(place, path), text, { flag: 'wx' })
    if (cli.json) return cli.out.json({ kind: 'written', directory: place, files: [...files.keys()] })
    const { colours } = cli.out
    for (const path of files.keys()) cli.out.line(colours.dim(join(directory, path)))
    const go = relative(process.cwd(), place)
    cli.out.line(
      `\nNext:${go === '' ? '' : `\n  cd ${/^[\w./-]+$/.test(go) ? go : `'${go}'`}`}\n  npm install\n  npm test\n  npm start\n  npm run dev`,
    )
  })
}

async function refuseExisting(place: string, paths: readonly string[]): Promise<void> {
  const found: string[] = []
  for (const path of paths) {
    const isThere = await access(join(place, path)).then(
      () => true,
      () => false,
    )
    if (isThere) found.push(path)
  }
  if (found.length === 0) return
  const sentence = `${place} already has ${found.join(', ')}; choose another directory, as in flowfabric init my-app`
  throw new EngineError('invalid_input', sentence, { directory: place, found })
}

/** Package names consist of lower-case letters, digits and dashes. */
function packageName(place: string): string {
  const name = basename(place)
    .toLowerCase()
    .replaceAll(/[^\da-z-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'my-app' : name
}
