// The document states bounds, and the engine checks them. A generated client that checks by the document must be able to send every
// value that the engine accepts.
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import * as bounds from '../../src/server/schema/bounds.ts'
import { shapeOf } from '../../src/server/schema/of-fields.ts'
import { duration, executionId, partition } from '../../src/server/schema/words.ts'
import { parseCapabilities } from '../../src/model/capability.ts'
import { parseDuration } from '../../src/model/duration.ts'
import { parseGivenId } from '../../src/model/id.ts'
import { checkKind, checkLane, checkNamespace, checkVersion } from '../../src/model/name.ts'
import { checkSignalName, checkWaitpointKey } from '../../src/model/signal.ts'
import { parseKid } from '../../src/model/signing-key.ts'
import { checkStepName } from '../../src/model/step.ts'
import { checkTagKey, checkTagValue } from '../../src/model/tag.ts'
import {
  kid,
  kind,
  lane,
  namespace,
  reason,
  signalName,
  stepName,
  version,
  waitpointKey,
} from '../../src/model/named-fields.ts'
import { checkText } from '../../src/model/text.ts'

const lengths = [0, 1, 2, 16, 17, 32, 63, 64, 65, 128, 200, 256, 257, 512, 1024, 4096]
const letters = ['a', ' ', '~', 'é', '語', '😀', '\u{200b}', '\u{85}', '\n', ',', ':', '*', '\u{10ffff}']
const texts = letters.flatMap((letter) =>
  lengths.flatMap((length) => [letter.repeat(length), `a${letter.repeat(length)}b`, `${'a'.repeat(length)}${letter}`]),
)

const shape = shapeOf({ namespace, lane, kind, version, reason, signalName, waitpointKey, stepName, kid })

const checks: Readonly<Record<string, readonly [schema: z.ZodType, check: (value: string) => unknown]>> = {
  'a namespace': [shape.namespace, checkNamespace],
  'a lane': [shape.lane, checkLane],
  'a kind': [shape.kind, checkKind],
  'a version': [shape.version, checkVersion],
  'a reason': [shape.reason, (text) => checkText('reason', text, { maxBytes: 4096 })],
  'the name of a signal': [shape.signalName, (text) => checkSignalName('name', text)],
  'the key of a waitpoint': [shape.waitpointKey, (text) => checkWaitpointKey('key', text)],
  'the name of a step': [shape.stepName, (text) => checkStepName('name', text)],
  'the id of a signing key': [shape.kid, (text) => parseKid(text)],
  'a tag key': [bounds.tagKey, checkTagKey],
  'a tag value': [bounds.tagValue, (text) => checkTagValue('key', text)],
}

describe('the documented bounds', () => {
  it.each(Object.entries(checks))('of %s allow every text that the engine accepts', (_, [schema, check]) => {
    const accepted = texts.filter((text) => isAccepted(() => check(text)))
    expect(accepted.length).toBeGreaterThan(0)
    expect(accepted.filter((text) => !schema.safeParse(text).success)).toEqual([])
  })

  it('of capabilities allow every list that the engine accepts', () => {
    const accepted = texts.map((text) => [text]).filter((list) => isAccepted(() => parseCapabilities(list)))
    expect(accepted.length).toBeGreaterThan(0)
    expect(accepted.filter((list) => !bounds.capabilities.safeParse(list).success)).toEqual([])
  })

  it('of a duration allow every spelling that the engine accepts, and no other', () => {
    const words = 'ms|s|m|h|d|w|y|msec|sec|mins|hr|hrs|yrs|Day|HOURS|Weeks|years|milliseconds| seconds|  min|mo|x|1h'
    const given = ['1', '0', '10', '1.5', '.5', '007'].flatMap((number) =>
      ['', ...words.split('|')].map((unit) => number + unit),
    )
    for (const text of given) {
      expect([text, duration.safeParse(text).success]).toEqual([text, isReadable(text)])
    }
  })

  it('of an id and a partition allow every value that the engine accepts', () => {
    const uuid = '0190a000-0000-7000-8000-00000000000a'
    for (const id of [
      `{fp:0}:${uuid}`,
      `{fp:255}:${uuid.toUpperCase()}`,
      `{fp:07}:${uuid}`,
      `{fp:256}:${uuid}`,
      uuid,
    ]) {
      expect([id, executionId.safeParse(id).success]).toEqual([id, isAccepted(() => parseGivenId(id))])
    }
    expect(partition.safeParse('{fp:255}').success).toBe(true)
  })
})

function isAccepted(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Halves of a millisecond are refused for their value, which no pattern states. */
function isReadable(text: string): boolean {
  return isAccepted(() => parseDuration('for', text)) || /^(?:1\.5|\.5) *(?:ms|msec|milliseconds)?$/.test(text)
}
