import type { Command } from 'commander'
import type { Health } from '../../connect/flowfabric.ts'
import type { LocalServer } from '../../connect/local-server.ts'
import { parseUrl } from '../../connect/url.ts'
import type { CheckHealthRequest, HealthReport } from '../../engine/health/check.ts'
import type { Finding, FindingLevel } from '../../engine/health/finding.ts'
import type { Repair } from '../../engine/health/repair.ts'
import type { Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { bareIds } from '../ids.ts'
import { exitCodeOf, failed, wrongUsage } from '../failure.ts'
import type { Printer } from '../print.ts'
import { harmless } from '../text.ts'
import type { ProgressBar } from '../progress.ts'

interface DoctorOptions {
  readonly repair?: boolean
  readonly deep?: boolean
  readonly timeout?: Duration
}

export function addDoctor(program: Command, cli: Cli): void {
  const command = program
    .command('doctor')
    .description('check the database and report problems; exit code 1 if there are any')
    .option('--repair', 'repair what is safe to repair, and report it')
    .option('--deep', 'check every invariant on all stored data; choose a quiet hour')
    .option('--timeout <duration>', 'time limit of one statement (default: 2s, with --deep 30s)')
    .addHelpText('after', examples('doctor', 'doctor --url postgres://me@host/app --json', 'doctor --repair'))
  cli.does(command, async (options: DoctorOptions) => {
    cli.refuseServer('doctor')
    let ff
    try {
      ff = await cli.open({ migrate: false, ...cli.alone })
    } catch (error) {
      const holder = await holderOf(cli, error)
      return holder === null ? printUnopened(cli, error) : examineBy(holder, cli, options)
    }
    try {
      return await examine(cli, ff.health, options)
    } finally {
      await ff.close()
    }
  })
}

async function examine(cli: Cli, health: Health, options: DoctorOptions): Promise<number> {
  const before = await check(cli, health, options)
  // Checks before the repair, and again afterwards.
  const repairs = options.repair === true ? await health.repair() : null
  const report = repairs === null ? before : await check(cli, health, options)
  if (cli.json) cli.out.json({ ...report, ...(repairs !== null && { repairs, before: before.findings }) })
  else {
    if (repairs !== null) printRepairs(cli.out, repairs)
    printFindings(cli.out, report.findings)
  }
  return report.isHealthy ? 0 : failed
}

async function check(cli: Cli, health: Health, { deep = false, timeout }: DoctorOptions): Promise<HealthReport> {
  let bar: ProgressBar | undefined
  try {
    return await health.check({
      deep,
      ...(timeout !== undefined && { timeout }),
      onLooked: (name, total) => {
        bar ??= cli.progress('checking', total)
        bar.step(1, name)
      },
    })
  } finally {
    bar?.end()
  }
}

function printUnopened(cli: Cli, error: unknown): number {
  if (!EngineError.is(error) || exitCodeOf(error) === wrongUsage) throw error
  const found = connection('trouble', error.message)
  const isHealthy = found.verdict !== 'trouble'
  if (cli.json) cli.out.json({ isHealthy, findings: [found] })
  else printFindings(cli.out, [found])
  return isHealthy ? 0 : failed
}

/** The process that has the directory open and serves it, as `flowfabric dev` does; it can run the checks for us. */
async function holderOf(cli: Cli, error: unknown): Promise<LocalServer | null> {
  const target = parseUrl(cli.url)
  if (!EngineError.is(error, 'directory_locked') || target.kind !== 'embedded' || target.directory === null) return null
  const { localServer } = await import('../../connect/local-server.ts')
  return localServer(target.directory)
}

async function examineBy(server: LocalServer, cli: Cli, options: DoctorOptions): Promise<number> {
  const { remoteHealth } = await import('../remote-health.ts')
  const health = remoteHealth(server)
  const holder = connection('fine', `${server.url} has the directory open and ran the checks.`)
  const check = async (request: CheckHealthRequest): Promise<HealthReport> => {
    const { isHealthy, findings } = await health.check(request)
    return { isHealthy, findings: [holder, ...findings] }
  }
  try {
    return await examine(cli, { check, repair: () => health.repair() }, options)
  } catch (error) {
    return printUnopened(cli, error)
  }
}

function connection(verdict: FindingLevel, sentence: string, next: string | null = null): Finding {
  return { check: 'connection', verdict, sentence, next, subjects: [] }
}

const symbols: Readonly<Record<FindingLevel, readonly [unicode: string, plain: string]>> = {
  fine: ['✓', 'ok'],
  note: ['•', 'note'],
  trouble: ['✗', 'TROUBLE'],
  unknown: ['?', '?'],
}

const mostSubjects = 5

function printFindings(out: Printer, findings: readonly Finding[]): void {
  const longest = Math.max(...findings.map((each) => each.check.length))
  for (const { check: name, verdict, sentence, subjects, next } of findings) {
    if (!out.isTerminal) {
      out.line(
        [verdict, name, sentence.replaceAll('\n', ' '), ...subjects].map((text) => harmless(bareIds(text))).join('\t'),
      )
      continue
    }
    const symbol = symbols[verdict][out.hasUnicode ? 0 : 1]
    const indent = ' '.repeat(longest + 4)
    const [first = '', ...more] = out.wrapped(sentence, indent.length)
    out.line(`${paintOf(verdict, out)(symbol)} ${name.padEnd(longest)}  ${first}`)
    for (const line of more) out.line(indent + line)
    for (const subject of subjects.slice(0, mostSubjects)) out.sentence(subject, indent)
    if (subjects.length > mostSubjects) out.line(`${indent}and ${subjects.length - mostSubjects} more`)
    if (next !== null && verdict !== 'fine') out.paragraph(`${out.hasUnicode ? '→' : '->'} ${next}`, indent)
  }
  if (out.isTerminal) out.line(`\n${summaryOf(findings)}`)
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (verdict: FindingLevel): number => findings.filter((each) => each.verdict === verdict).length
  if (count('trouble') > 0) return `${count('trouble')} of ${findings.length} checks found a problem.`
  return count('unknown') === 0 ? 'No problems found.' : `No problems found; ${count('unknown')} checks could not run.`
}

function paintOf(verdict: FindingLevel, { colours }: Printer): (text: string) => string {
  if (verdict === 'fine') return colours.green
  return verdict === 'trouble' ? colours.red : colours.yellow
}

function printRepairs(out: Printer, repairs: readonly Repair[]): void {
  if (repairs.length === 0) out.line('Nothing to repair.')
  for (const { kind, sentence } of repairs)
    out.paragraph(kind === 'failed' ? `could not repair: ${sentence}` : sentence)
  if (out.isTerminal) out.line()
}
