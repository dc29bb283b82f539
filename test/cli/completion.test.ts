import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { typed } from './typed.ts'

const execute = promisify(execFile)

/** The words that bash offers when Tab is pressed at the end of a line. */
async function offered(line: string): Promise<string[]> {
  const { out } = await typed(['completion', 'bash'])
  const script = `${out}\nCOMP_WORDS=(${line})\n[[ "$LINE" == *' ' ]] && COMP_WORDS+=('')\nCOMP_CWORD=$((\${#COMP_WORDS[@]} - 1))\n_flowfabric\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await execute('bash', ['--norc', '-c', script], { env: { ...process.env, LINE: line } })
  return stdout.trim().split('\n')
}

test('bash completes commands, their verbs, options and choices', async () => {
  expect(await offered('flowfabric ')).toEqual(expect.arrayContaining(['submit', 'list', 'flow', '--json', '--help']))
  expect(await offered('flowfabric sub')).toEqual(['submit'])
  expect(await offered('flowfabric schedule ')).toEqual(
    expect.arrayContaining(['list', 'put', 'pause', 'resume', 'trigger', 'delete', 'show']),
  )
  expect(await offered('flowfabric --json schedule put --o')).toEqual(['--overlap'])
  expect(await offered('flowfabric list --state fa')).toEqual(['failed'])
  expect(await offered('flowfabric completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
})

test('the scripts for zsh and fish contain every command, too', async () => {
  const zsh = await typed(['completion', 'zsh'])
  expect(zsh.out).toMatch(/^#compdef flowfabric\n/)
  const fish = await typed(['completion', 'fish'])
  for (const word of ['submit', 'signing-key', 'rotate']) {
    expect(zsh.out).toContain(word)
    expect(fish.out).toContain(`-a ${word} `)
  }
  expect(fish.out).toContain("-l state -x -a 'waiting delayed")
})

const hasFish = spawnSync('fish', ['--version']).status === 0

test.runIf(hasFish)(
  'fish completes by position: after options and their values, and only words that fit there',
  async () => {
    const { out } = await typed(['completion', 'fish'])
    const offered = async (line: string): Promise<string[]> => {
      const { stdout, stderr } = await execute('fish', [
        '--no-config',
        '-c',
        `${out}\ncomplete -C ${JSON.stringify(line)}`,
      ])
      expect(stderr).toBe('')
      return stdout.split('\n').map((each) => each.split('\t')[0]!)
    }
    expect(await offered('flowfabric sche')).toContain('schedule')
    expect(await offered('flowfabric schedule p')).toEqual(expect.arrayContaining(['pause', 'put']))
    expect(await offered('flowfabric --url memory: schedule p')).toEqual(expect.arrayContaining(['pause', 'put']))
    expect(await offered('flowfabric schedule put p')).not.toContain('pause')
    expect(await offered('flowfabric list --state fa')).toContain('failed')
    expect(await offered('flowfabric list --ki')).toContain('--kind')
    expect(await offered('flowfabric show --ki')).not.toContain('--kind')
  },
)
