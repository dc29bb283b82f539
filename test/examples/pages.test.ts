// The README and docs/ match the code: their programs are the examples, a server accepts their requests, their links lead
// somewhere, and the reference is complete. `test/deploy/` checks their commands against the CLI.
import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { createApp } from '../../src/server.ts'
import { createDatabase } from '../support/database.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const inDocs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
const inInternals = (await readdir(join(root, 'docs/internals'))).map((name) => `docs/internals/${name}`)
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...inDocs, ...inInternals]

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

async function blocks(page: string, ...languages: string[]): Promise<string[]> {
  const fenced = new RegExp(`^ *\`\`\`(?:${languages.join('|')})\n(.*?)^ *\`\`\``, 'gms')
  return [...(await read(page)).matchAll(fenced)].map((match) => match[1]!)
}

test('every program of a page is an example, or whole lines of one, and every example is run', async () => {
  const names = (await readdir(join(root, 'examples'))).filter((name) => /\.(ts|js)$/.test(name))
  const examples = await Promise.all(names.map((name) => read(join('examples', name))))
  for (const page of pages) {
    for (const block of await blocks(page, 'ts', 'js', 'typescript', 'javascript')) {
      const isFrom = examples.some((text) => `\n${text}`.includes(`\n${block}`))
      expect(isFrom, `${page} shows what no example has:\n${block}`).toBe(true)
    }
  }
  const runs = await read('test/examples/examples.test.ts')
  const isRun = (name: string): boolean =>
    runs.includes(`'${name}'`) || examples.some((text) => text.includes(`./${name}`))
  expect(names.filter((name) => !isRun(name))).toEqual([])
})

test('a server accepts the requests of the README as written', async () => {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  const ff = await connect(database.url)
  onTestFinished(async () => {
    await ff.close()
    await database.drop()
  })
  const app = createApp(ff.engine, { authenticate: null })
  const shell = (await blocks('README.md', 'sh')).join('').replaceAll('\\\n', ' ')
  const lines = shell.split('\n').filter((line) => line.startsWith('curl '))
  expect(lines).toHaveLength(3)
  // Without it curl takes brackets for a range.
  expect(lines.filter((line) => line.includes('[') && !/^curl -\w*g/.test(line))).toEqual([])
  const answers: Response[] = []
  for (const line of lines) answers.push(await app.fetch(requestOf(wordsOf(line))))
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200])
  expect(await answers[1]!.json()).toMatchObject({ executions: [{ kind: 'send-email', tags: { team: 'core' } }] })
  await answers[2]!.body!.cancel()
})

test.each(pages)('the links of %s lead to existing targets', async (page) => {
  const links = [...(await read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
  for (const [link, path, heading] of links) {
    const target = path === '' ? page : join(dirname(page), path!)
    await expect(access(join(root, target)), link).resolves.toBeUndefined()
    if (heading !== undefined) expect(await anchors(target), link).toContain(heading)
  }
})

test('docs/engine.md has every operation of the engine', async () => {
  const [contract, reference] = [await read('src/engine/contract.ts'), await read('docs/engine.md')]
  const nouns = [...contract.matchAll(/^export interface ([A-Z]\w+s) \{\n(.*?)^\}/gms)]
  expect(nouns.length).toBeGreaterThan(10)
  for (const [, type, body] of nouns) {
    const noun = type![0]!.toLowerCase() + type!.slice(1)
    const section = new RegExp(`^### [^\n]*\`engine\\.${noun}\`.*?(?=^##)`, 'ms').exec(reference)?.[0] ?? ''
    for (const [, verb] of body!.matchAll(/^ {2}(\w+)\(/gm)) {
      expect(section, `engine.${noun}.${verb}`).toMatch(new RegExp(`\`(${noun}\\.)?${verb}\``))
    }
  }
})

test('docs/engine.md has every option of connect, and every member of ff', async () => {
  const reference = await read('docs/engine.md')
  const options = (await read('src/connect/connect.ts')).split('const optionNames')[1]!
  for (const [, name] of options.matchAll(/^ {2}'(\w+)'/gm)) expect(reference).toContain(`\n| \`${name}\` | `)
  const held = (await read('src/connect/flowfabric.ts')).split('export interface FlowFabric')[1]!
  for (const [, name] of held.matchAll(/^ {2}(?:readonly )?(\w+)[<(:]/gm)) expect(reference).toContain(`\`ff.${name}`)
})

/** Splits like a shell. */
function wordsOf(line: string): string[] {
  const words = [...line.replace(/\s#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)]
  return words.map(([, quoted, plain]) => quoted ?? plain!)
}

function requestOf([, ...args]: readonly string[]): Request {
  const options = {
    s: { type: 'boolean', short: 's' },
    N: { type: 'boolean', short: 'N' },
    g: { type: 'boolean', short: 'g' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
  } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const headers = (values.header ?? []).map((header) => header.split(': ') as [string, string])
  const body = values.data === undefined ? {} : { method: 'POST', body: values.data }
  return new Request(`http://${positionals[0]!}`, { headers, ...body })
}

/** As GitHub derives them from headings. */
async function anchors(page: string): Promise<string[]> {
  const headings = [...(await read(page)).matchAll(/^#+ (.*)$/gm)]
  return headings.map(([, text]) =>
    text!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
