import { expect, test } from 'vitest'
import type { ConnectOptions } from '../../src/connect/connect.ts'
import { typed, type Typed } from './typed.ts'

/** The URL and options with which a command would connect; the connect fails. */
async function opened(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ url: string; options: ConnectOptions }> {
  let asked: { url: string; options: ConnectOptions } | null = null
  const connect = async (url: string, options: ConnectOptions): Promise<never> => {
    asked = { url, options }
    throw new Error('far enough')
  }
  const { err } = await typed(argv, { connect }, { env })
  if (asked === null) throw new Error(err)
  return asked
}

function refused(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Typed> {
  return typed(argv, {}, { env: { FLOWFABRIC_URL: 'postgres://nobody@127.0.0.1:1/none', ...env } })
}

const secret = '0123456789abcdef0123456789abcdef'
const everything = {
  FLOWFABRIC_URL: 'postgres://pooler/app',
  FLOWFABRIC_LISTEN_URL: 'postgres://direct/app',
  FLOWFABRIC_POOL_SIZE: '2',
  FLOWFABRIC_WRAPPING_SECRET: secret,
  FLOWFABRIC_TOKEN: 'ff_x',
}

test('Postgres is opened as the environment says', async () => {
  const { url, options } = await opened(['list'], everything)
  expect(url).toBe('postgres://pooler/app')
  expect(options).toMatchObject({
    listenUrl: 'postgres://direct/app',
    poolSize: 2,
    signing: { wrappingSecret: secret },
    migrate: 'check',
  })
  expect(options).not.toHaveProperty('token')
})

test('options of the command line win over the environment', async () => {
  const argv = ['serve', '--listen-url', 'postgres://other/app', '--pool-size', '7']
  expect((await opened(argv, everything)).options).toMatchObject({ listenUrl: 'postgres://other/app', poolSize: 7 })
})

test('an empty value counts as not set', async () => {
  const nothing = { FLOWFABRIC_LISTEN_URL: '', FLOWFABRIC_POOL_SIZE: '', FLOWFABRIC_WRAPPING_SECRET: '' }
  const { options } = await opened(['list', '--url', 'postgres://h/d'], nothing)
  expect(options).toEqual({ migrate: 'check' })
})

test('a server receives the key, and no options for a database', async () => {
  const { url, options } = await opened(['list'], { ...everything, FLOWFABRIC_URL: 'https://ff.example.com' })
  expect(url).toBe('https://ff.example.com')
  expect(options).toEqual({ token: 'ff_x' })
})

test('the command that opens a directory itself passes the secret on, and no other command does', async () => {
  const env = { ...everything, FLOWFABRIC_URL: 'memory:' }
  expect((await opened(['list'], env)).options).toEqual({ migrate: true })
  const alone = await opened(['serve'], { ...everything, FLOWFABRIC_URL: 'file:./here' })
  expect(alone.options).toMatchObject({ share: false, signing: { wrappingSecret: secret } })
  expect(alone.options).not.toHaveProperty('poolSize')
})

test.each([
  [['list'], { FLOWFABRIC_POOL_SIZE: 'many' }, 'FLOWFABRIC_POOL_SIZE is "many"'],
  [['list'], { FLOWFABRIC_POOL_SIZE: '0' }, 'FLOWFABRIC_POOL_SIZE is "0"'],
  [['list'], { FLOWFABRIC_LISTEN_URL: 'http://x' }, 'listenUrl is'],
  [['serve', '--pool-size', '0'], {}, 'poolSize is 0'],
  [['serve', '--keep-endings', 'soon'], {}, '--keep-endings is'],
  [['serve', '--keep-log', '-1d'], {}, '--keep-log is'],
  [['serve', '--drain', 'x'], {}, '--drain is'],
  [['serve', '--no-duties', '--keep-log', '7d'], {}, 'leave out --no-duties'],
])('%j with %j is refused before anything is opened, and ends with 2', async (argv, env, sentence) => {
  const { code, err } = await refused(argv, env)
  expect(err).toContain(sentence)
  expect(code).toBe(2)
})

test('the help lists every variable', async () => {
  const { out } = await typed(['--help'])
  for (const name of Object.keys(everything)) expect(out).toContain(name)
})
