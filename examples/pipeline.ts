// A release as a flow of tasks: two tests after the build, then two people have to approve, then it is deployed. A
// failure skips everything after it, and sends an alert. The whole graph is accepted, or nothing.
import { connect, task } from 'flowfabric'

const build = task('build', async (ctx, { commit }: { commit: string }) => ctx.step('compile', () => `shop:${commit}`))

const test = task('test', async (ctx, { suite }: { suite: string }) => ctx.step('run', () => `${suite} passed`))

const approve = task('approve', { deadline: '2d' }, async (ctx) => {
  const answers = await ctx.all([ctx.waitFor('security'), ctx.waitFor('product')])
  return answers.map((answer) => (answer as { by: string }).by)
})

// A member reads the results of its upstreams; its own input stays its own.
const deploy = task('deploy', async (ctx) => {
  const [image, approvers] = [await ctx.upstream(build), await ctx.upstream(approve)]
  return ctx.step('roll out', () => `${image} is live, agreed by ${approvers.join(' and ')}`)
})

const alert = task('alert', (ctx) => ctx.step('page', () => console.log('the release has failed')))

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const worker = ff.worker({ tasks: [build, test, approve, deploy, alert] })
await worker.start()

const release = await ff.flow((f) => {
  const image = f.add(build, { commit: '4f2a91' })
  const unit = f.after(image, f.add(test, { suite: 'unit' }, { name: 'unit' }))
  const browser = f.after(image, f.add(test, { suite: 'browser' }, { name: 'browser' }))
  const approvers = f.after([unit, browser], f.add(approve))
  const live = f.after([approvers, image], f.add(deploy))
  f.after({ on: live, kind: 'on_failure' }, f.add(alert))
  return live
})

// Two signals by name, in any order and at any time; an early one is stored until the wait. `by` is a claim of the
// sender: links that are issued for a person prove it (docs/engine.md, "Who answered").
const approval = ff.handle(release.members['approve']!)
await approval.signal('product', { by: 'ada' })
await approval.signal('security', { by: 'grace' })

console.log(await release.result()) // shop:4f2a91 is live, agreed by grace and ada
const { state, members } = await release.wait({ timeout: '1m' })
console.log(state, members.completed, members.skipped) // completed 5 1
await ff.close()
