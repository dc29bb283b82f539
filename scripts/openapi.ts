// Writes the OpenAPI document to the named file, or to standard output.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeVersion } from '../src/model/version.ts'
import { openApiDocument } from '../src/server/openapi.ts'

const text = `${JSON.stringify(openApiDocument(codeVersion), null, 2)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
