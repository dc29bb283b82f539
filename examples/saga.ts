// A trip is booked in three steps, and the third one fails for good. The earlier bookings are cancelled, the last one
// first. You can kill the process at any moment and start it again: it continues with the next compensation. With an
// argument (`flight`) it stops in the middle of that one, so that you have the time to kill it.
//
//   npx tsx examples/saga.ts
import { connect, PermanentError, task } from 'flowfabric'

const trip = task(
  'trip',
  {
    onFailure: (ctx, to: string) => ctx.step('write to customer', () => console.log(`no trip to ${to}`)),
    onCancel: (ctx, to: string) => ctx.step('confirm the cancel', () => console.log(`the trip to ${to} is cancelled`)),
  },
  async (ctx, to: string) => {
    // Registered before the booking. If the process dies while it books, the booking is cancelled all the same.
    await ctx.compensate('cancel flight', () => cancel('flight', ctx.idempotencyKey('flight')))
    await ctx.step('book flight', () => book('flight', ctx.idempotencyKey('flight')))

    await ctx.compensate('cancel hotel', () => cancel('hotel', ctx.idempotencyKey('hotel')))
    await ctx.step('book hotel', () => book('hotel', ctx.idempotencyKey('hotel')))

    await ctx.step('book car', () => {
      throw new PermanentError(`no car is left in ${to}`)
    })
  },
)

// The booking service. It identifies a booking by its key, so that a repeat books or cancels nothing twice.
function book(what: string, _key: string): void {
  console.log(`${what} booked`)
}

async function cancel(what: string, _key: string): Promise<void> {
  console.log(`cancelling ${what}`)
  if (what === process.argv[2]) await new Promise((resolve) => setTimeout(resolve, 600_000))
  console.log(`${what} cancelled`)
}

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const worker = ff.worker({ tasks: [trip], leaseTtl: '2s' })
await worker.start()
// The key makes it one execution, however often the program starts.
const run = await ff.submit(trip, 'Lisbon', { idempotencyKey: 'trip 4711' })
await run.result().catch((error: Error) => console.log(error.message))
const { steps } = await ff.engine.steps.list(run.id)
for (const { kind, name, state } of steps) console.log(`${kind.padEnd(12)}  ${name.padEnd(24)}  ${state}`)
await ff.close()
