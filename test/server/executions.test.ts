import { expect, test } from 'vitest'
import { appSetup, base64 } from './app-setup.ts'

test('HTTP-16 a new execution is a 201, the same id again a 200', async () => {
  const { ask } = await appSetup()
  const first = await ask('POST', '/v1/executions', { kind: 'mail', payload: base64({ to: 'a' }) })
  expect(first).toMatchObject({ status: 201, body: { kind: 'created', publicState: 'waiting' } })
  const { executionId } = first.body
  expect(await ask('POST', '/v1/executions', { kind: 'mail', executionId })).toMatchObject({
    status: 200,
    body: { kind: 'duplicate', executionId },
  })
})

test('HTTP-17, HTTP-19, HTTP-20 an execution is created, claimed, completed and its result read', async () => {
  const { ask } = await appSetup()
  const payload = base64({ to: 'a@example.com' })
  const { executionId } = (await ask('POST', '/v1/executions', { kind: 'mail', payload })).body
  const path = `/v1/executions/${encodeURIComponent(executionId)}`
  expect((await ask('GET', path)).body).toMatchObject({ executionId, publicState: 'waiting' })
  expect((await ask('GET', `${path}/result`)).body).toEqual({ kind: 'pending', publicState: 'waiting' })
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  const { claims } = (await ask('POST', '/v1/executions/claim', { ...worker, max: 5 })).body
  expect(claims).toMatchObject([{ executionId, payload, reason: 'first' }])
  const { leaseId, leaseEpoch } = claims[0]
  const held = { executionId, leaseId, leaseEpoch }
  const renewed = await ask('POST', '/v1/executions/renew', { workerInstanceId: 'w-1', leases: [held] })
  expect(renewed.body).toMatchObject({ leases: [{ kind: 'renewed' }], unnamed: [] })
  const done = await ask('POST', `${path}/complete`, { leaseId, leaseEpoch, result: base64('sent') })
  expect(done).toMatchObject({ status: 200, body: { kind: 'completed', executionId } })
  expect((await ask('GET', `${path}/result`)).body).toEqual({
    kind: 'completed',
    result: base64('sent'),
    output: 'sent',
    encoding: 'json',
  })
})

test('a set answers at each position, and one bad item delays no other', async () => {
  const { ask } = await appSetup()
  const items = [{ kind: 'a' }, { kind: 5 }, { kind: 'b', payload: 'no base64!' }, { kind: 'c' }]
  const { status, body } = await ask('POST', '/v1/executions/create', { items })
  expect(status).toBe(200)
  expect(body.items.map((item: { kind: string }) => item.kind)).toEqual(['created', 'refused', 'refused', 'created'])
  expect(body.items[1].error).toMatchObject({ code: 'invalid_input', retryable: false, status: 400 })
})

test('HTTP-18 executions are listed in pages, and a bad cursor is a 400', async () => {
  const { ask } = await appSetup()
  for (const kind of ['a', 'b', 'c']) await ask('POST', '/v1/executions', { kind, tags: { team: 'core' } })
  const first = (await ask('GET', '/v1/executions?limit=2')).body
  expect(first.executions).toHaveLength(2)
  const rest = (await ask('GET', `/v1/executions?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body
  expect(rest.executions).toHaveLength(1)
  expect(rest.nextCursor).toBeNull()
  const tagged = await ask('GET', '/v1/executions?tag[key]=team&tag[value]=core')
  expect(tagged.body.executions).toHaveLength(3)
  expect(await ask('GET', '/v1/executions?cursor=xyz')).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  expect(await ask('GET', '/v1/executions?limit=many')).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
})

test('tags are set and read, and a tag that does not exist is null', async () => {
  const { ask } = await appSetup()
  const { executionId } = (await ask('POST', '/v1/executions', { kind: 'a' })).body
  const path = `/v1/executions/${encodeURIComponent(executionId)}/tags/team`
  expect(await ask('PUT', path, { value: 'core' })).toMatchObject({ status: 204 })
  expect((await ask('GET', path)).body).toEqual({ value: 'core' })
  expect((await ask('GET', `${path}x`)).body).toEqual({ value: null })
  expect((await ask('GET', '/v1/executions/count')).body).toMatchObject({ waiting: { count: 1, orMore: false } })
})

test('an Idempotency-Key header is the key of a create, and is refused on requests where it has no meaning', async () => {
  const { ask } = await appSetup()
  const key = { 'idempotency-key': 'order-7' }
  const first = await ask('POST', '/v1/executions', { kind: 'a' }, key)
  const again = await ask('POST', '/v1/executions', { kind: 'a' }, key)
  expect([first.body.kind, again.body.kind]).toEqual(['created', 'duplicate'])
  expect(again.body.executionId).toBe(first.body.executionId)
  const other = await ask('POST', '/v1/executions', { kind: 'b' }, key)
  expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  const both = await ask('POST', '/v1/executions', { kind: 'a', idempotencyKey: 'order-8' }, key)
  expect(both).toMatchObject({ status: 400, body: { details: { field: 'idempotencyKey' } } })
  expect((await ask('POST', '/v1/executions/claim', {}, key)).body.detail).toContain('takes no Idempotency-Key')
})

test('a create that is repeated with its request id gets the first answer again; another repeat is a duplicate', async () => {
  const { ask } = await appSetup()
  const request = { kind: 'a', idempotencyKey: 'k' }
  const first = await ask('POST', '/v1/executions', request, { 'x-request-id': 'r-1' })
  const again = await ask('POST', '/v1/executions', request, { 'x-request-id': 'r-1' })
  expect(again).toMatchObject({ status: 201, body: first.body })
  expect(again.headers.get('x-request-id')).toBe('r-1')
  expect((await ask('POST', '/v1/executions', request, { 'x-request-id': 'r-2' })).body.kind).toBe('duplicate')
  expect((await ask('POST', '/v1/executions', request)).body.kind).toBe('duplicate')
})
