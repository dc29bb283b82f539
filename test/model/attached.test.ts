import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'

test('the bits of attached rows keep their stored positions', () => {
  expect(attached).toEqual({
    waitpoints: 1,
    suspension: 2,
    stream: 4,
    admission: 8,
    flow: 16,
    parent: 32,
    children: 64,
    grant: 128,
    signals: 256,
    subFlow: 512,
    tags: 1024,
    attemptTimeout: 2048,
    signalLimit: 4096,
    compensation: 8192,
    onFailure: 16384,
  })
})
