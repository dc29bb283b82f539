import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc16 } from '../../src/model/crc16.ts'
import {
  formatExecutionId,
  formatFlowId,
  mintExecutionId,
  parseExecutionId,
  parseGivenId,
  parseFlowId,
  parsePartition,
  partitionOfKey,
  partitionOfUuid,
} from '../../src/model/id.ts'
import { refused } from './refused.ts'

const uuid = '550e8400-e29b-41d4-a716-446655440000'

describe('CRC16', () => {
  test.each([
    ['', 0],
    ['123456789', 0x31c3],
    ['A', 0x58e5],
    ['default', 54_870],
  ])('of the bytes of %j is %i', (text, crc) => {
    expect(crc16(Buffer.from(text))).toBe(crc)
  })

  test.each([
    ['00000000-0000-0000-0000-000000000000', 0],
    ['11111111-1111-4111-8111-111111111111', 191],
    [uuid, 24],
  ])('puts %s into partition %i', (value, partition) => {
    expect(partitionOfUuid(value)).toBe(partition)
    expect(partitionOfUuid(value.toUpperCase())).toBe(partition)
  })

  test('spreads ids over all 256 partitions', () => {
    const seen = new Set(Array.from({ length: 8000 }, () => parseExecutionId(mintExecutionId()).partition))
    expect(seen.size).toBe(256)
  })
})

test('a given id may be the bare uuid, whose partition is not known', () => {
  expect(parseGivenId(uuid.toUpperCase())).toEqual({ partition: null, uuid })
  expect(parseGivenId(`{fp:7}:${uuid}`)).toEqual({ partition: 7, uuid })
  refused('invalid_id', () => parseGivenId('order-1'))
})

describe('an execution id', () => {
  test('EXEC-32 is read by its grammar, and its partition is never computed again', () => {
    expect(parseExecutionId(`{fp:7}:${uuid}`)).toEqual({ partition: 7, uuid })
    expect(parseExecutionId(`{fp:0}:${uuid}`)).toEqual({ partition: 0, uuid })
    expect(parseExecutionId(`{fp:255}:${uuid}`)).toEqual({ partition: 255, uuid })
  })

  test.each([
    uuid,
    `fp:7:${uuid}`,
    `{fp:7:${uuid}`,
    `{fp:7}${uuid}`,
    `{fp:07}:${uuid}`,
    `{fp:+7}:${uuid}`,
    `{fp:-1}:${uuid}`,
    `{fp:}:${uuid}`,
    `{fp:7.0}:${uuid}`,
    `{FP:7}:${uuid}`,
    `{b:7}:${uuid}`,
    ` {fp:7}:${uuid}`,
    `{fp:7}:${uuid}\n`,
    `{fp:7}:${uuid}0`,
    `{fp:7}:{${uuid}}`,
    `{fp:7}:${uuid.replaceAll('-', '')}`,
    `{fp:7}:${uuid.replace('5', 'g')}`,
    `{fp:٧}:${uuid}`,
    '{fp:7}:',
    '',
  ])('EXEC-32 that is malformed is refused: %j', (text) => {
    const error = refused('invalid_id', () => parseExecutionId(text))
    expect(error.message).toContain('it must be {fp:N}:<uuid> ')
  })

  test.each([256, 70_000, '99999999999999999999999'])('EXEC-32 of partition %s is out of range', (partition) => {
    const error = refused('invalid_partition', () => parseExecutionId(`{fp:${partition}}:${uuid}`))
    expect(error.status).toBe(400)
  })

  test.each([undefined, null, 7, [`{fp:7}:${uuid}`], { partition: 7, uuid }])('is never %s', (value) => {
    refused('invalid_id', () => parseExecutionId(value))
    refused('invalid_id', () => parseFlowId(value))
  })

  test('in capitals is the same id', () => {
    expect(parseExecutionId(`{fp:7}:${uuid.toUpperCase()}`).uuid).toBe(uuid)
  })

  test('is returned as it was written, as is a flow id', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), fc.uuid(), (partition, value) => {
        expect(parseExecutionId(formatExecutionId(partition, value))).toEqual({ partition, uuid: value })
        expect(parseFlowId(formatFlowId(partition, value))).toEqual({ partition, uuid: value })
      }),
    )
  })

  test('the error for a bad id names its noun', () => {
    expect(refused('invalid_id', () => parseFlowId('x')).message).toMatch(/^flow id is "x"/)
    expect(refused('invalid_id', () => parseExecutionId('x')).message).toMatch(/^execution id is "x"/)
  })
})

describe('a minted execution id', () => {
  const flowId = formatFlowId(42, uuid)
  const parentId = formatExecutionId(43, uuid)

  test('EXEC-33 carries the partition of its flow', () => {
    expect(parseExecutionId(mintExecutionId({ flowId })).partition).toBe(42)
    expect(parseExecutionId(mintExecutionId({ flowId, parentId })).partition).toBe(42)
  })

  test('EXEC-33 carries the partition of its parent', () => {
    expect(parseExecutionId(mintExecutionId({ parentId })).partition).toBe(43)
  })

  test('EXEC-33 carries the partition of its idempotency key, in every process the same', () => {
    const { partition } = parseExecutionId(mintExecutionId({ namespace: 'default', idempotencyKey: 'order-1' }))
    expect(partition).toBe(partitionOfKey('default', 'order-1'))
    expect(partition).toBe(crc16(Buffer.from('default\0order-1')) % 256)
  })

  test('EXEC-33 without a parent, flow or key carries the partition of its own uuid', () => {
    for (const within of [{}, { namespace: 'default' }]) {
      const { partition, uuid: own } = parseExecutionId(mintExecutionId(within))
      expect(partition).toBe(partitionOfUuid(own))
    }
  })

  test('is a uuid of version 7, and later ones sort after earlier ones', () => {
    const minted = Array.from({ length: 100 }, () => parseExecutionId(mintExecutionId()).uuid)
    expect(minted.every((value) => value[14] === '7')).toBe(true)
    expect(minted.toSorted()).toEqual(minted)
  })

  test('needs the namespace in which its key holds', () => {
    refused('invalid_input', () => mintExecutionId({ idempotencyKey: 'order-1' }))
  })

  test('the compiler refuses to mint one within an object of another noun', () => {
    // @ts-expect-error an execution is no flow
    expect(parseExecutionId(mintExecutionId({ flowId: parentId })).partition).toBe(43)
    // @ts-expect-error a flow is no parent
    expect(parseExecutionId(mintExecutionId({ parentId: flowId })).partition).toBe(42)
  })

  test('is not minted within a value that is no id', () => {
    refused('invalid_id', () => mintExecutionId({ flowId: '{fp:1}:x' }))
    refused('invalid_partition', () => mintExecutionId({ parentId: `{fp:999}:${uuid}` }))
  })
})

describe('a partition', () => {
  test('is written as in an id or as a number', () => {
    expect(parsePartition('{fp:7}')).toBe(7)
    expect(parsePartition(7)).toBe(7)
    expect(parsePartition(0)).toBe(0)
    expect(parsePartition('{fp:255}')).toBe(255)
  })

  test.each([-1, 256, 1.5, NaN, Infinity, '7', '{fp:256}', '{fp:07}', '{fp:7}:', '{b:7}', '', null, undefined, [7]])(
    'is never %j',
    (tag) => {
      refused('invalid_partition', () => parsePartition(tag))
    },
  )

  test('of a key depends on where the namespace ends', () => {
    expect(partitionOfKey('a', 'bc')).not.toBe(partitionOfKey('ab', 'c'))
  })
})
