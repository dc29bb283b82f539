// A schema of another version of the code, at the command line.
import { expect, inject, test } from 'vitest'
import { emptyDatabase, open, run } from '../connect/empty-database.ts'
import { typed } from './typed.ts'
import * as stored from '../support/stored.ts'

test.runIf(inject('backend') === 'postgres').each(['list', 'migrate'])(
  '%s on a schema of another version gives one piece of advice, which works',
  async (command) => {
    const url = await emptyDatabase()
    await (await open(url)).close()
    await run(url, stored.migrations.changing({ checksum: 'another' }))
    const { code, err, out } = await typed([command, '--url', url])
    expect(code).toBe(1)
    expect(err + out).toContain('drop schema "flowfabric" cascade')
    expect(err + out).not.toContain('flowfabric migrate')
  },
)
