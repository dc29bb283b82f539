// Takes the lock of a directory, reports the result, and holds the lock until it receives a message.
import { lockDirectory } from '../../src/sql/lock.ts'

const [directory = ''] = process.argv.slice(2)
const lock = await lockDirectory(directory).catch((error: unknown) => {
  process.send?.({ refused: String(error) })
  return undefined
})
if (lock === undefined) process.disconnect()
else {
  process.send?.({ locked: process.pid })
  process.on('message', (message: { url?: string }) => {
    const done = message.url === undefined ? lock.release() : lock.setUrl(message.url)
    void done.then(() => process.send?.({ done: true }))
  })
}
