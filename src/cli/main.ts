#!/usr/bin/env node
// The binary `flowfabric`: the CLI in this process.
import { calledAs } from './called-as.ts'
import { run } from './run.ts'

// What the embedded database says once to a program, a person at a terminal need not hear with every command.
process.removeAllListeners('warning')
process.on('warning', (warning) => {
  const { code, name, message } = warning as Error & { code?: string }
  if (code !== 'FLOWFABRIC_EMBEDDED') process.stderr.write(`${name}: ${message}\n`)
})

// `flowfabric list | head` has read enough.
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

/** The first Ctrl-C ends what goes on, the second the process. */
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
