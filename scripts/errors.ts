// Writes docs/errors.md: every error code of the engine, from the table in src/model/errors.ts. With --check it writes
// nothing, and fails when the file is not up to date.
import { readFile, writeFile } from 'node:fs/promises'
import { errorTable, type ErrorEntry } from '../src/model/errors.ts'

const FILE = new URL('../docs/errors.md', import.meta.url)
const HEADER = `# Errors

<!-- Made from src/model/errors.ts by npm run errors; do not edit. -->

Every refusal is an \`EngineError\` with one of these codes. Its sentence names the thing, what was found and what to do next, and
\`details\` are for programs. Check for a code with \`EngineError.is(error, 'contended')\`. The codes are the same in the process, over
HTTP (\`application/problem+json\`, with the status below) and at the command line. Retryable: the same call, sent again unchanged,
may succeed. Some codes are reserved for planned features, such as streams, budgets and quotas.

| code | status | retryable | meaning |
| --- | --- | --- | --- |
`

const current = HEADER + Object.entries(errorTable).map(lineOf).join('')
if (!process.argv.includes('--check')) {
  await writeFile(FILE, current)
} else {
  const committed = await readFile(FILE, 'utf8').catch(() => '')
  if (committed !== current) {
    console.error('docs/errors.md is not what src/model/errors.ts makes; run npm run errors')
    process.exitCode = 1
  }
}

function lineOf([code, { status, retryable, meaning }]: [string, ErrorEntry]): string {
  return `| \`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${meaning.replaceAll('<', '&lt;')} |\n`
}
