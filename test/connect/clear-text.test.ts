import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'

test('an API key that leaves the machine over plain HTTP causes one warning, and otherwise none', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): void => void warnings.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  // No server listens at any of these; the warning comes before the key is sent.
  const quick = { timeout: 1000, retryFor: 0 }
  for (const near of ['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', 'https://0.0.0.0:1']) {
    await expect(connect(near, { token: 'ff_key', ...quick })).rejects.toThrow()
  }
  await expect(connect('http://0.0.0.0:1', quick)).rejects.toThrow()
  await immediate()
  expect(clearText(warnings)).toEqual([])
  await expect(connect('http://0.0.0.0:1', { token: 'ff_key', ...quick })).rejects.toThrow()
  await expect(connect('HTTP://0.0.0.0:1', { token: 'ff_key', ...quick })).rejects.toThrow()
  await immediate()
  expect(clearText(warnings)).toEqual([
    'the API key is sent to 0.0.0.0:1 in clear text, and anyone on the way can read it; use https://',
  ])
})

function clearText(warnings: readonly Error[]): string[] {
  return warnings
    .filter((warning) => (warning as NodeJS.ErrnoException).code === 'FLOWFABRIC_CLEAR_TEXT')
    .map(({ message }) => message)
}

function immediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
