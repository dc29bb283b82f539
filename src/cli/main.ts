#!/usr/bin/env node
// The binary `flowfabric`: the CLI in this process.
import { silenceEmbeddedNotices } from '../connect/embedded-notice.ts'
import { calledAs } from './called-as.ts'
import { run } from './run.ts'

// A person at a terminal need not read them with every command.
silenceEmbeddedNotices()
process.removeAllListeners('warning')
process.on('warning', ({ name, message }) => process.stderr.write(`${name}: ${message}\n`))

// `flowfabric list | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

process.exitCode = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  program: calledAs(process.argv[1]!, process.cwd()),
  interruption,
})

/** The first Ctrl-C ends the command, the second the process. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1)
      controller.abort()
    })
  }
  return controller.signal
}
