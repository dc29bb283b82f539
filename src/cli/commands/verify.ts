import { Option, type Command } from 'commander'
import { show } from '../../model/text.ts'
import type { RecordedRun } from '../../worker/recorded-run.ts'
import type { Task } from '../../worker/task.ts'
import { newStepPlaces, verify, type VerifiedRun, type VerifyOptions } from '../../worker/verify.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import { failed } from '../failure.ts'
import { bare } from '../ids.ts'
import { taskLoader } from '../load-tasks.ts'
import { recordedRunsIn } from '../recorded-runs.ts'
import { harmless } from '../text.ts'

type Checked = Omit<VerifiedRun, 'kind'> & { readonly kind: VerifiedRun['kind'] | 'skipped' }

export function addVerify(program: Command, cli: Cli): void {
  const command = program
    .command('verify')
    .description('check that changed code still fits recorded runs; needs no database')
    .argument('<tasks>', 'file that exports your tasks')
    .argument('<runs...>', 'files, or directories of .json files, that flowfabric export wrote')
    .addOption(
      new Option('--allow-new <where>', 'where the code may have new steps').choices(newStepPlaces).default('end'),
    )
    .addHelpText('after', help)
  cli.does(command, async ({ allowNew }: Pick<VerifyOptions, 'allowNew'>, path: string, paths: string[]) => {
    const found = await recordedRunsIn(paths)
    const tasks = await (await taskLoader(path)).load()
    const checked: (Checked & { readonly file: string })[] = []
    for (const { file, run } of found) {
      checked.push({ file, ...(await check(tasks, path, run, { ...(allowNew !== undefined && { allowNew }) })) })
    }
    const ok = checked.every(({ kind }) => kind !== 'differs')
    if (cli.json) cli.out.json({ ok, runs: checked })
    else report(cli, checked)
    return ok ? 0 : failed
  })
}

const help = `
Replays each recorded run against the code in the tasks file. Steps return their recorded results and nothing runs for real.
A run differs when a recorded step was replaced, renamed, removed or moved. A worker would then repeat work that is done
(or fail the run, if the task is strict). Give such code a new version. The exit code is 1 if any run differs.
A run of another version of the task is skipped, because workers with this code do not take it.
${examples('list --state suspended --all | flowfabric export - --to runs', 'verify tasks.ts runs', 'verify tasks.ts runs --allow-new anywhere --json')}`

async function check(tasks: readonly Task[], path: string, run: RecordedRun, options: VerifyOptions): Promise<Checked> {
  const { executionId, kind, version } = run
  const named = tasks.filter(({ name }) => name === kind)
  const task = named.find((each) => version === null || each.version === version)
  if (task !== undefined) return (await verify(task, [run], options)).runs[0]!
  const other = { executionId, recorded: null, met: null, isRefused: false }
  if (named.length > 0) {
    return { ...other, kind: 'skipped', sentence: `was recorded with version ${show(version)} of ${show(kind)}` }
  }
  return { ...other, kind: 'differs', sentence: `${path} exports no task ${show(kind)}` }
}

function report(cli: Cli, runs: readonly (Checked & { readonly file: string })[]): void {
  const { out } = cli
  const paint = { same: out.colours.green, new: out.colours.yellow, skipped: out.colours.dim, differs: out.colours.red }
  for (const { file, executionId, kind, sentence } of runs.filter((run) => run.kind !== 'same')) {
    out.line(`${paint[kind](kind)}  ${harmless(file)}  ${bare(executionId)}`)
    out.paragraph(harmless(sentence), '  ')
  }
  const counts = Object.keys(paint).map((kind) => [kind, runs.filter((run) => run.kind === kind).length] as const)
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`)
  out.line(`${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'}: ${parts.join(', ')}`)
}
