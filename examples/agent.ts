// An agent: a model decides the next action, tools perform it, and their results return to the model. Every call is a
// step, so after a crash no paid call is repeated. Before a tool that can do harm, a human decides; the agent waits
// without a worker.
import { connect, task } from 'flowfabric'

type Call = { tool: 'search' | 'refund'; input: string }
type Turn = { say: string } | Call

const tools = {
  search: { isDangerous: false, run: (input: string) => `order ${input}: delivered broken` },
  refund: { isDangerous: true, run: (input: string) => `refunded order ${input}` },
}

const agent = task('agent', async (ctx, { question }: { question: string }) => {
  const memory = [`user: ${question}`]
  for (;;) {
    const turn = await ctx.step('think', () => model(memory), { timeout: '1m' })
    if ('say' in turn) return turn.say
    const tool = tools[turn.tool]
    if (tool.isDangerous) {
      await ctx.step('ask', () => console.log(`may it ${turn.tool} ${turn.input}?`))
      const answer = (await ctx.waitFor(`permission to ${turn.tool}`, {
        timeout: '1d',
        onTimeout: () => ({ granted: false, by: 'nobody' }),
      })) as { granted: boolean; by: string }
      memory.push(`human: ${answer.granted ? 'yes' : 'no'}, says ${answer.by}`)
      if (!answer.granted) continue
    }
    const found = await ctx.step(turn.tool, ({ idempotencyKey }) => {
      console.log(`${turn.tool} ${turn.input} (${idempotencyKey.split(':').slice(-2).join(':')})`)
      return tool.run(turn.input)
    })
    memory.push(`${turn.tool}: ${found}`)
  }
})

/** Replaces a model: it looks the order up, requests the refund, and reports the result. */
async function model(memory: readonly string[]): Promise<Turn> {
  const last = memory.at(-1)!
  if (last.startsWith('user:')) return { tool: 'search', input: '4711' }
  if (last.startsWith('search:')) return { tool: 'refund', input: '4711' }
  return { say: last.startsWith('refund:') ? 'Your money is on its way.' : 'I may not give the money back.' }
}

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const worker = ff.worker({ tasks: [agent] })
await worker.start()

const run = await ff.submit(agent, { question: 'My order 4711 came broken.' })
while ((await run.state()) !== 'suspended') await new Promise((resolve) => setTimeout(resolve, 20))
console.log((await ff.explain(run.id))!.sentence)
await run.signal('permission to refund', { granted: true, by: 'grace' })
console.log(await run.result())
await ff.close()
