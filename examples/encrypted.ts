// Values of users never reach the database in the clear: a codec encrypts every input, step, signal, result and error.
// The key stays with the processes that submit and work; the server, the database and backups see bytes.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { connect, jsonCodec, task, type Codec } from 'flowfabric'

const key = process.env.SECRET === undefined ? randomBytes(32) : Buffer.from(process.env.SECRET, 'hex')

const sealed: Codec = {
  encode(value) {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    const text = Buffer.concat([cipher.update(jsonCodec.encode(value).bytes), cipher.final()])
    return { bytes: Buffer.concat([iv, cipher.getAuthTag(), text]), encoding: 'json+aes-256-gcm' }
  },
  decode({ bytes, encoding }) {
    // Signals through a waitpoint, from strangers and from the approval page, are plain JSON: their senders have no
    // key.
    if (encoding === 'json') return jsonCodec.decode({ bytes, encoding })
    const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    opener.setAuthTag(bytes.subarray(12, 28))
    const text = Buffer.concat([opener.update(bytes.subarray(28)), opener.final()])
    return jsonCodec.decode({ bytes: text, encoding: 'json' })
  },
}

const diagnose = task('diagnose', async (ctx, { patient }: { patient: string }) => {
  const finding = await ctx.step('examine', () => `${patient} is well`)
  const { opinion } = (await ctx.waitFor('second opinion')) as { opinion: string }
  return `${finding}; ${opinion}`
})

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric', { codec: sealed })
const worker = ff.worker({ tasks: [diagnose] })
await worker.start()

const run = await ff.submit(diagnose, { patient: 'Ada' })
await run.signal('second opinion', { opinion: 'Grace agrees' })
console.log(await run.result())

// A reader of the database without the key.
const { executions, steps } = ff.engine
const [input, [step]] = [await executions.input(run.id), (await steps.list(run.id)).steps]
for (const [what, bytes] of Object.entries({ input: input!.payload!, step: step!.result! })) {
  console.log(`${what}: ${bytes.byteLength} bytes, ${Buffer.from(bytes).includes('Ada') ? 'readable' : 'sealed'}`)
}
await ff.close()
