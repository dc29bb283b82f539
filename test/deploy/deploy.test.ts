import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { environmentVariables } from '../../src/cli/environment.ts'
import { read, refusalOf, words } from './as-written.ts'

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly volumes?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

async function compose(): Promise<Compose> {
  return parse(await read('deploy/compose.yaml'), { merge: true })
}

const ours = ({ image }: Service): boolean => image === 'flowfabric'

test('the compose file has Postgres, two servers that are alike, and a balancer that knows both', async () => {
  const { services, volumes } = await compose()
  expect(services['server-1']).toEqual(services['server-2'])
  expect(services['postgres']!.image).toBe('postgres:18')
  const caddyfile = await read('deploy/Caddyfile')
  expect(caddyfile).toContain('reverse_proxy server-1:7070 server-2:7070 {')
  for (const { depends_on = {}, volumes: mounted = [] } of Object.values(services)) {
    for (const name of Object.keys(depends_on)) expect(services).toHaveProperty(name)
    for (const [source] of mounted.map((each) => each.split(':'))) {
      expect(source!.startsWith('./') ? await read(`deploy/${source}`) : volumes).toBeDefined()
    }
  }
})

test('the CLI knows every command and every variable of the compose file', async () => {
  const { services } = await compose()
  const own = Object.values(services).filter(ours)
  expect(own).toHaveLength(4)
  for (const { command, environment } of own) {
    expect(await refusalOf(command!)).toBeNull()
    for (const name of Object.keys(environment!)) expect(environmentVariables).toHaveProperty(name)
  }
})

test('.env.example contains every variable that the compose file reads', async () => {
  const asked = [...(await read('deploy/compose.yaml')).matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
  const example = await read('deploy/.env.example')
  for (const name of asked) expect(example).toMatch(new RegExp(`^${name}=`, 'm'))
})

test('every file that the image copies exists and is not ignored, and the CLI knows its command', async () => {
  const dockerfile = await read('deploy/Dockerfile')
  const taken = (await read('deploy/Dockerfile.dockerignore')).match(/(?<=^!).+/gm)!
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '))
  expect(copied.length).toBeGreaterThan(5)
  for (const source of copied) expect(taken).toContain(source)
  for (const source of taken.filter((each) => each !== 'src')) expect(await read(source)).not.toBe('')
  const command: string[] = JSON.parse(/^CMD (.+)$/m.exec(dockerfile)![1]!)
  expect(await refusalOf(command)).toBeNull()
  const { bin } = JSON.parse(await read('package.json'))
  expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin.flowfabric}"]`)
})

test('the systemd unit starts a command that the CLI knows, and waits for longer than it takes to stop', async () => {
  const unit = await read('deploy/flowfabric.service')
  const [, command] = /^ExecStart=\S+ \S+\/dist\/cli\/main\.js (.+)$/m.exec(unit)!
  expect(await refusalOf(words(command!))).toBeNull()
  expect(Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)![1])).toBeGreaterThan(10)
})

const outsideTheCli = ['FLOWFABRIC_SITE', 'FLOWFABRIC_PORT', 'FLOWFABRIC_TLS_PORT']

test.each([
  'deploy/compose.yaml',
  'deploy/.env.example',
  'deploy/flowfabric.service',
  'docs/deployment.md',
  'README.md',
])('%s names no variable that no program reads', async (path) => {
  const named = new Set((await read(path)).match(/FLOWFABRIC_[A-Z_]+/g))
  const known = [...Object.keys(environmentVariables), ...outsideTheCli]
  expect([...named].filter((name) => !known.includes(name))).toEqual([])
})

test.each(['docs/deployment.md', 'README.md'])('the CLI knows every command in %s', async (path) => {
  const blocks = [...(await read(path)).matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!)
  const commands = blocks
    .flatMap((block) => block.split('\n'))
    .flatMap((line) => line.split(' | '))
    .map((line) => /^\s*(?:npx )?flowfabric (.+)$/.exec(line)?.[1])
    .filter((command) => command !== undefined)
    // These would have effects, or read files.
    .filter((command) => !/^(init|dev|verify) /.test(command))
  expect(commands.length).toBeGreaterThan(5)
  for (const command of commands) expect([command, await refusalOf(words(command))]).toEqual([command, null])
})
