import type { Command } from 'commander'
import type { WorkerInstance } from '../../engine/worker/list.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../examples.ts'
import type { Column } from '../print.ts'
import { pageOptions, showPage, type PageOptions } from '../show-page.ts'
import { timeCell } from '../time.ts'

export function addWorker(program: Command, cli: Cli): void {
  const worker = program.command('worker').description('inspect live workers')
  const command = pageOptions(worker.command('list').description('list live workers and what each serves')).addHelpText(
    'after',
    examples('worker list', 'worker list --json'),
  )
  cli.does(command, (options: PageOptions) =>
    cli.connected(async ({ engine }) => {
      const now = await engine.serverTime()
      await showPage<WorkerInstance>(cli, options, {
        noun: 'workers',
        columns: columns(timeCell(cli.out, now)),
        none: 'No workers. Executions wait until a worker starts.',
        read: async (page) => {
          const { workers, nextCursor } = await engine.workers.list(page)
          return { rows: workers, nextCursor }
        },
      })
    }),
  )
}

function columns(time: (at: number | null) => string): Column<WorkerInstance>[] {
  return [
    { title: 'INSTANCE', of: (row) => row.workerInstanceId },
    { title: 'WORKER', of: (row) => row.workerId },
    { title: 'LANES', of: (row) => row.lanes.join(',') },
    { title: 'KINDS', of: (row) => row.kinds?.join(',') ?? 'any', gives: true },
    { title: 'NAMESPACE', of: (row) => row.namespace ?? 'all' },
    { title: 'HOST', of: (row) => `${row.host ?? '?'}:${row.pid ?? '?'}`, gives: true },
    { title: 'SINCE', of: (row) => time(row.registeredAt), align: 'right' },
    { title: 'SEEN', of: (row) => time(row.heartbeatAt), align: 'right' },
  ]
}
