// A report every night. An application puts its schedules at every start: the same options again change nothing.
import { connect, task } from 'flowfabric'

const report = task('report', (ctx, { region }: { region: string }) => ctx.step('write', () => `report of ${region}`))

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
await ff.worker({ tasks: [report] }).start()

await ff.schedules.put('nightly-report', {
  task: report,
  input: { region: 'north' },
  cron: '30 2 * * *',
  timeZone: 'Europe/Berlin',
  overlap: 'skip', // while the last one is running; or queue, cancelPrevious, allow
  catchUp: 'last', // of the times that passed without a supervisor; or none, all
})
const fired = await ff.schedules.trigger('nightly-report') // now, besides its times

if (fired.kind === 'fired') console.log(await ff.handle(fired.executionId, report).result())
await ff.close()
