import { expect, test } from 'vitest'
import { bare } from '../../src/cli/ids.ts'
import { codeVersion } from '../../src/model/version.ts'
import { typed, typing } from './typed.ts'

test('the version is that of the package', async () => {
  expect(await typed(['--version'])).toEqual({ code: 0, out: `${codeVersion}\n`, err: '' })
})

test('openapi prints the document that the server serves', async () => {
  const { code, out, err } = await typed(['openapi'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(JSON.parse(out)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: { '/v1/executions': {} } })
})

test('without a command it shows its help, and ends as wrong usage', async () => {
  const { code, out, err } = await typed([])
  expect(code).toBe(2)
  expect(out).toBe('')
  expect(err).toContain('Usage: flowfabric')
})

test.each([
  [['--help']],
  [['help']],
  [['list', '--help']],
  [['help', 'submit']],
  [['flow', 'show', '--help']],
  [['schedule', 'put', '--help']],
])('%j prints its usage', async (argv) => {
  const { code, out, err } = await typed(argv)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^Usage: flowfabric/)
  expect(out).toContain('--json')
})

test.each([
  [['lst'], "unknown command 'lst'\n(Did you mean list?)"],
  [
    ['retry', 'x'],
    "unknown command 'retry'\n`flowfabric replay` runs ended executions again; see `flowfabric help replay`.",
  ],
  [['rerun', 'x'], "unknown command 'rerun'\n`flowfabric replay` runs ended executions again"],
  [['schedule', 'create'], "unknown command 'create'\n"],
  [['flow', 'shw', 'x'], "unknown command 'shw'\n(Did you mean show?)"],
  [['list', '--jsn'], "unknown option '--jsn'\n(Did you mean --json?)"],
  [['list', '--stat', 'failed'], "unknown option '--stat'\n(Did you mean --state?)"],
  [['list', '--state', 'faild'], 'Allowed choices are waiting, delayed'],
  [['list', '--limit', 'ten'], 'It must be a whole number.'],
  [['list', '--tag', 'customer'], 'It must be key=value.'],
  [['list', 'extra'], 'too many arguments'],
  [['show'], "missing required argument 'id'"],
  [['serve', '--port', '99999'], 'It must be a port, from 0 to 65535.'],
  [['dev', '--port', '-1'], 'It must be a port'],
  [['submit'], "missing required argument 'kind'"],
  [['submit', 'k', '--wait', '--lane'], "option '--lane <lane>' argument missing"],
  [['cancel'], "missing required argument 'id'"],
  [['completion', 'powershell'], 'Allowed choices are bash, zsh, fish.'],
  [['schedule', 'put', 'n', 'k', '--until', 'soon'], 'It must be a date'],
  [['submit', 'k', '{bad'], 'the input is "{bad"; it must be JSON, quoted for the shell'],
  [['submit', 'k', '-'], 'the input from standard input is empty; it must be JSON'],
  [['submit', 'k', '@/no/such/file'], '/no/such/file cannot be read: ENOENT'],
  [
    ['migrate', '--url', 'https://u:secret@h:1/d'],
    'migrate needs a direct database connection, but https://u:***@h:1/d is a server',
  ],
  [['migrate', '--check', '--url', 'http://h'], 'use --url postgres://... or file:./directory'],
  [['doctor', '--url', 'http://h'], 'doctor needs a direct database connection, but http://h is a server'],
  [['serve', '--no-duties', '--keep-log', '1d'], 'which --no-duties switches off'],
  [['dev', '/no/such/tasks.ts'], '/no/such/tasks.ts cannot be read: ENOENT'],
  [['list', '--url', 'mysql://u:secret@h/d'], 'the URL is "mysql://u:***@h/d"; give one of postgres://'],
])('%j is refused in a sentence, and ends with 2', async (argv, sentence) => {
  const { code, out, err } = await typed(argv)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(sentence)
  expect(err).toMatch(/^error: /)
  expect(err).not.toMatch(/\n {4}at /)
})

test.each([
  [['show', 'nope'], 'execution id is "nope"; it must be {fp:N}:<uuid>'],
  [['submit', 'k', '--delay', '5x'], 'delay is "5x"; it must be'],
  [['submit', ''], 'kind is empty'],
  [['submit', 'k', '--tag', `${'a'.repeat(200)}=b`], 'tag'],
  [['submit', 'k', '--attempts', '0'], 'attempts'],
  [['list', '--cursor', 'rubbish'], 'cursor'],
  [['list', '--limit', '-1'], 'limit is -1'],
  [['list', '--parent', 'x'], 'execution id is "x"'],
  [['list', '--partition', '999'], '999'],
  [['list', '--tag', 'a=b', '--parent', '{fp:1}:0190b6d2-0000-7000-8000-000000000000'], 'a list takes only one of'],
  [['list', '--tag', 'a=b', '--tag', 'c=d'], '--tag is given twice'],
  [['list', '--namespace', '\u0001'], 'namespace'],
  [['cancel', 'nope'], 'execution id is "nope"'],
  [['cancel', '-'], 'standard input is empty'],
  [['replay', 'nope'], 'execution id is "nope"'],
  [['resume', 'nope'], 'execution id is "nope"'],
  [['signal', 'nope', 'n'], 'execution id is "nope"'],
  [['signal', 'nope', 'n', '--token', 't'], 'waitpoint id is "nope"'],
  [['approve', 'nope'], 'id is "nope"'],
  [['watch', 'nope'], 'execution id is "nope"'],
  [['watch', '--kind', 'endd'], 'did you mean ended?'],
  [['watch', '--after', 'rubbish'], 'cursor'],
  [['watch', '{fp:1}:0190b6d2-0000-7000-8000-000000000000', '--kind', 'ended'], 'leave out one of them'],
  [['flow', 'show', 'nope'], 'flow id is "nope"'],
  [['flow', 'cancel', 'nope'], 'flow id is "nope"'],
  [['schedule', 'put', 'n', 'k'], 'cron'],
  [['schedule', 'put', 'n', 'k', '--cron', 'x y z'], 'cron'],
  [['signing-key', 'rotate', '--grace', 'x'], 'grace'],
  [['signing-key', 'rotate', '--kid', 'k1'], 'FLOWFABRIC_SIGNING_SECRET'],
])('%j is refused by the engine, and ends with 2', async (argv, sentence) => {
  const { type } = await typing()
  const { code, out, err } = await type(...argv)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain(sentence)
  const asJson = await type(...argv, '--json')
  expect({ code: asJson.code, error: JSON.parse(asJson.err || asJson.out).error }).toMatchObject({
    code: 2,
    error: { message: expect.any(String), code: expect.stringMatching(/^(invalid|missing)_/) },
  })
})

const foreign = '{fp:1}:0190b6d2-0000-7000-8000-000000000000'

test.each([
  [['show', foreign], 'does not exist\n`flowfabric list` shows'],
  [['watch', foreign], 'does not exist'],
  [['cancel', foreign], 'does not exist'],
  [['flow', 'show', foreign], 'does not exist\n`flowfabric flow list` shows'],
  [['schedule', 'show', 'nightly'], "schedule 'nightly' does not exist"],
  [['schedule', 'pause', 'nightly'], 'does not exist'],
  [['schedule', 'delete', 'nightly'], 'does not exist'],
  [['signal', foreign, 'n'], 'does not exist'],
  [['approve', foreign], 'does not exist\n`flowfabric list --state suspended` shows'],
  [
    ['approve', foreign, '--waitpoint', 'door'],
    `execution ${bare(foreign)} does not exist, so --waitpoint cannot choose`,
  ],
  [['api-key', 'revoke', '0'.repeat(32)], '`flowfabric api-key list` shows'],
  [['serve', '--host', '127.999.0.1', '--port', '0'], 'cannot listen on port 0 of 127.999.0.1 (E'],
])('%j does not find it, and ends with 1', async (argv, sentence) => {
  const { type } = await typing()
  const { code, out, err } = await type(...argv)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain(sentence)
})

test('an error in JSON is one object on standard error, with the code of the table', async () => {
  const { type } = await typing()
  const { out, err } = await type('show', foreign, '--json')
  expect(out).toBe('')
  expect(JSON.parse(err)).toEqual({
    error: {
      code: 'execution_not_found',
      message: `execution ${foreign} does not exist`,
      status: 404,
      retryable: false,
      details: { executionId: foreign },
    },
  })
  expect(JSON.parse((await type('--json', 'lst')).err)).toMatchObject({
    error: { message: "unknown command 'lst' (Did you mean list?)" },
  })
})

test('only --debug prints the stack', async () => {
  const { type } = await typing()
  expect((await type('show', foreign)).err).not.toContain('    at ')
  expect((await type('show', foreign, '--debug')).err).toContain('    at ')
})

test('a sentence is broken between words on a narrow screen, and its own lines stay', async () => {
  const { err } = await typed(['list', '--state', 'faild'], {}, { columns: 50 })
  expect(err.split('\n').every((line) => line.length <= 50)).toBe(true)
  expect(err.replaceAll('\n', ' ')).toContain('Allowed choices are waiting, delayed')
  const wrong = await typed(['submit', 'k', '{bad'], {}, { columns: 50 })
  expect(wrong.err.split('\n')[0]).toBe('error: the input is "{bad"; it must be JSON,')
})

test('the error for an unreachable server says what to check', async () => {
  const { code, err } = await typed(['list', '--url', 'http://127.0.0.1:1'])
  expect(code).toBe(1)
  expect(err).toMatch(
    /ECONNREFUSED.*\nThe URL comes from --url or FLOWFABRIC_URL; `flowfabric dev` and `flowfabric serve`/,
  )
})

test('a directory without a database is not created by a command that reads', async () => {
  const { code, err } = await typed(['list', '--url', 'file:/no/such/place'])
  expect(code).toBe(1)
  expect(err).toContain('there is no database in /no/such/place')
  expect(err).toContain('create one with `flowfabric dev` or `flowfabric migrate`')
})
