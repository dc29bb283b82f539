import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { build, ownDatabase, ownFolder } from './built.ts'
import { typing } from './typed.ts'

const execute = promisify(execFile)
const flowfabric = build()
const isEmbedded = inject('backend') === 'embedded'

async function get(
  url: string,
  path: string,
  key?: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}${path}`, { headers })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function post(url: string, path: string, body: object, key?: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

test('serve listens, runs the duties, and ends cleanly', async () => {
  const url = await ownDatabase()
  const serving = flowfabric.start(url, 'serve', '--port', '0', '--json')
  const { kind, url: at, asksForKeys } = await serving.next()
  expect({ kind, asksForKeys }).toEqual({ kind: 'listening', asksForKeys: false })
  expect(await get(at as string, '/readyz')).toMatchObject({ status: 200 })
  await post(at as string, '/v1/executions', { kind: 'k', delay: 1 })
  await expect
    .poll(async () => (await get(at as string, '/v1/executions?state=waiting')).body['executions'])
    .toHaveLength(1)
  if (isEmbedded) {
    // A command with the directory connects to the process that has it open.
    const shared = await flowfabric.run(url, 'list')
    expect(shared).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\twaiting\tk\t/) })
    const looked = await flowfabric.run(url, 'doctor')
    expect(looked.stdout).toMatch(
      /^fine\tconnection\thttp:\S+ has the directory open and ran the checks\.\nfine\tversion\t/,
    )
    expect(looked.stdout).toMatch(/\nfine\tschema\t/)
    expect(looked.stderr).toBe('')
    expect(looked.code).toBe(looked.stdout.includes('\ntrouble\t') ? 1 : 0)
    const repaired = JSON.parse((await flowfabric.run(url, 'doctor', '--repair', '--json')).stdout)
    expect(repaired).toMatchObject({
      repairs: expect.any(Array),
      findings: expect.arrayContaining([expect.objectContaining({ check: 'schema' })]),
    })
    const refused = await flowfabric.run(url, 'doctor', '--timeout', 'soon')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('timeout is "soon"') })
    const second = await flowfabric.run(url, 'serve', '--port', '0')
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`Connect to ${at as string}`) })
  }
  expect(await serving.interrupt()).toMatchObject({ code: 0, stderr: '' })
  expect((await flowfabric.run(url, 'list')).stdout).toMatch(/\twaiting\tk\t/)
})

test('beyond loopback it does not listen without a key', async () => {
  const url = await ownDatabase()
  const refused = await flowfabric.run(url, 'serve', '--host', '0.0.0.0', '--port', '0')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('there is no API key yet')
  const key = (await flowfabric.run(url, 'api-key', 'create', 'ops', '--scope', 'read')).stdout.trim()
  const serving = flowfabric.start(url, 'serve', '--host', '0.0.0.0', '--port', '0', '--json')
  const { url: at } = (await serving.next()) as { url: string }
  const here = at.replace('0.0.0.0', '127.0.0.1')
  expect((await get(here, '/v1/executions')).status).toBe(401)
  expect((await get(here, '/v1/executions', key)).status).toBe(200)
  const taken = await flowfabric.run(isEmbedded ? 'memory:' : url, 'serve', '--port', new URL(at).port)
  expect(taken.code).toBe(1)
  expect(taken.stderr).toMatch(/port \d+ of 127\.0\.0\.1 is in use; choose another with --port/)
  expect((await serving.interrupt()).stderr.match(/signing keys are stored unwrapped/g)).toHaveLength(1)
})

test('dev runs the tasks of a file, loads them again when one of its files changes, and ends cleanly', async () => {
  const url = await ownDatabase()
  const folder = await ownFolder()
  const tasks = join(folder, 'tasks.mjs')
  const part = join(folder, 'part.mjs')
  await writeFile(part, `export const word = 'one'`)
  await writeFile(
    tasks,
    `import { task } from ${JSON.stringify(join(flowfabric.folder, 'index.js'))}
import { word } from './part.mjs'
export const say = task('say', () => word)`,
  )
  const dev = flowfabric.start(url, 'dev', tasks, '--port', '0', '--json')
  const started = await dev.next()
  expect(started).toMatchObject({ kind: 'started', tasks: ['say'], database: url })
  const keyFile = started['keyFile'] as string | null
  expect(keyFile === null).toBe(!isEmbedded)
  if (keyFile !== null) expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
  const key = keyFile === null ? undefined : (await readFile(keyFile, 'utf8')).trim()
  const at = started['url'] as string
  if (key !== undefined) expect((await get(at, '/v1/executions')).status).toBe(401)

  const said = async (): Promise<unknown> => {
    const { executionId } = await post(at, '/v1/executions', { kind: 'say' }, key)
    const { body } = await get(at, `/v1/executions/${encodeURIComponent(executionId as string)}/result?wait=20s`, key)
    return Buffer.from(body['result'] as string, 'base64').toString()
  }
  // A file that is written in several steps may be loaded in between.
  const until = async (kind: string, message = ''): Promise<Record<string, unknown>> => {
    for (;;) {
      const event = await dev.next()
      if (event['kind'] === kind && String(event['message']).includes(message)) return event
    }
  }
  expect(await said()).toBe('"one"')
  // By the directory, or by the server's URL and a key.
  expect(await flowfabric.run(url, 'submit', 'say', '--wait')).toEqual({ code: 0, stdout: '"one"\n', stderr: '' })
  if (key !== undefined) {
    const strange = await flowfabric.run(at, 'list')
    expect(strange).toMatchObject({ code: 1, stderr: expect.stringContaining('API key') })
    process.env['FLOWFABRIC_TOKEN'] = key
    onTestFinished(() => void delete process.env['FLOWFABRIC_TOKEN'])
    expect((await flowfabric.run(at, 'list')).stdout).toMatch(/\tcompleted\tsay\t/)
    expect(await flowfabric.run(at, 'doctor')).toMatchObject({ code: 2 })
    expect(await flowfabric.run(at, 'dev')).toMatchObject({ code: 2 })
  }
  await writeFile(part, `export const word = 'two'`)
  expect(await until('loaded')).toMatchObject({ tasks: ['say'] })
  await expect.poll(said).toBe('"two"')
  await writeFile(part, `export const word = `)
  await until('not_loaded', 'Unexpected end of input')
  expect(await said()).toBe('"two"')
  // A missing import may appear later, with its folder.
  await writeFile(tasks, (await readFile(tasks, 'utf8')).replace('./part.mjs', './later/part.mjs'))
  await until('not_loaded', 'later/part.mjs')
  await mkdir(join(folder, 'later'))
  await writeFile(join(folder, 'later/part.mjs'), `export const word = 'three'`)
  expect(await until('loaded')).toMatchObject({ tasks: ['say'] })
  await expect.poll(said).toBe('"three"')
  expect(await dev.interrupt()).toMatchObject({ code: 0, stderr: '' })
})

test('dev without a file runs the demo: an order completes within moments', async () => {
  const url = await ownDatabase()
  const dev = flowfabric.start(url, 'dev', '--port', '0', '--json')
  expect(await dev.next()).toMatchObject({ kind: 'started', tasks: ['order', 'build', 'test', 'deploy', 'alert'] })
  const seen = new Set<unknown>()
  while (!seen.has('ended')) seen.add((await dev.next())['kind'])
  expect(seen).toContain('acquired')
  const { code, stderr } = await dev.interrupt()
  expect(code).toBe(0)
  // A fifth of its payments fail, and the demo may be interrupted in the middle of a run.
  for (const line of stderr
    .trim()
    .split('\n')
    .filter((each) => each !== '')) {
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(
        /^order \S+: attempt \d of \d failed in step "|^the worker stopped with \d+ runs? unfinished/,
      ),
    })
  }
})

test('the command that the demo suggests completes as it is printed', async () => {
  const url = await ownDatabase()
  const dev = flowfabric.start(url, 'dev', '--port', '0')
  let line = ''
  while (!line.includes(' submit ')) line = await dev.line()
  const command = line.replace(
    /^.* submit /,
    `'${process.execPath}' '${join(flowfabric.folder, 'cli/main.js')}' submit `,
  )
  const { stdout } = await execute('sh', ['-c', command], { env: { ...process.env, FLOWFABRIC_URL: url } })
  expect(stdout).toContain('parcel 1')
  expect(await dev.interrupt()).toMatchObject({ code: 0 })
})

test('a file that cannot be run is refused before a database is created', async () => {
  const folder = await ownFolder()
  const url = `file:${join(folder, 'database')}`
  const written = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const refused = async (path: string): Promise<string> => {
    const { code, stderr } = await flowfabric.run(url, 'dev', path)
    expect(code).toBeGreaterThan(0)
    await expect(stat(join(folder, 'database'))).rejects.toThrow('ENOENT')
    return stderr
  }
  expect(await refused(join(folder, 'none.mjs'))).toContain('cannot be read')
  expect(await refused(await written('empty.mjs', 'export const a = 1'))).toContain('exports no task')
  expect(await refused(await written('old.cjs', ''))).toContain('is CommonJS')
  expect(await refused(await written('untyped.js', ''))).toContain('write "type": "module" into its package.json')
  if (!('typescript' in process.features)) {
    expect(await refused(await written('typed.mts', ''))).toContain('npm install -D tsx, or use Node 22.18 or newer')
  }
})

test('an API key is created, listed and revoked; it is shown once', async () => {
  const cli = await typing()
  const made = await cli.type(
    'api-key',
    'create',
    'checkout',
    '--scope',
    'submit',
    '--scope',
    'read',
    '--namespace',
    'shop',
  )
  const key = made.out.trim()
  expect(await cli.engine.apiKeys.authenticate({ key })).toMatchObject({ name: 'checkout', namespace: 'shop' })
  const { apiKeys } = await cli.json<{ apiKeys: { keyId: string }[] }>('api-key', 'list')
  expect(JSON.stringify(apiKeys)).not.toContain(key.split('_').slice(2).join('_'))
  const [{ keyId }] = apiKeys as [{ keyId: string }]
  expect((await cli.type('api-key', 'revoke', keyId)).out).toBe(`${keyId} revoked\n`)
  expect((await cli.type('api-key', 'revoke', keyId)).out).toBe(`${keyId} was already revoked\n`)
  expect(await cli.engine.apiKeys.authenticate({ key })).toBeNull()
  expect((await cli.type('api-key', 'list')).out).toMatch(/^\S+\tcheckout\tshop\t(submit,read|read,submit)\t/)
})

test.each([
  [['api-key', 'create', 'x'], "required option '--scope <scope>' not specified"],
  [['api-key', 'create', 'x', '--scope', 'rule'], 'scope'],
  [['api-key', 'create', '', '--scope', 'read'], 'name is empty'],
  [['api-key', 'create', 'x', '--scope', 'read', '--rate', '0'], 'requestsPerSecond is 0'],
])('%j is refused, and ends with 2', async (argv, sentence) => {
  const { type } = await typing()
  const { code, err } = await type(...argv)
  expect(code).toBe(2)
  expect(err).toContain(sentence)
})
