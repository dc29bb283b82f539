// A task's retries, lane, deadline and tags belong to the task: an execution that is created by its kind alone has them
// too.
import { connect, task } from 'flowfabric'

const send = (_: unknown, { to }: { to: string }): string => `sent to ${to}`

const mail = task('mail', { retry: { attempts: 4 }, lane: 'mail', deadline: '1h', tags: { team: 'post' } }, send)

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
await ff.worker({ tasks: [mail] }).start()

const created = await ff.engine.executions.create({ kind: 'mail', input: { to: 'ada' } })
const applied = created.kind === 'created' ? created.applied : undefined
console.log(`${applied?.attempts} attempts in lane ${applied?.lane}`)
console.log(await ff.handle(created.executionId).result())
await ff.close()
