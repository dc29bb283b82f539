import { z } from 'zod'
import * as bounds from './bounds.ts'
import { scopes } from '../../model/api-key.ts'
import { limits } from '../../model/limits.ts'
import { answer, named, nextCursor, page, request, time } from './words.ts'

const scopeList = z.array(named('Scope', z.enum(scopes), 'The operations that a key allows; `admin` allows all.'))
const keyId = z.string()
const namespace = z.string().nullable().describe('Null: all namespaces.')

const apiKey = named(
  'ApiKey',
  answer({
    keyId,
    namespace,
    name: z.string(),
    scopes: scopeList,
    requestsPerSecond: z.int().nullable(),
    createdAt: time,
    createdBy: z.string(),
    lastUsedAt: time.nullable().describe('To the minute.'),
    revokedAt: time.nullable(),
    expiresAt: time.nullable().describe('The last millisecond of its validity; null: it does not expire.'),
  }),
)

export const apiKeyShapes = {
  create: {
    request: request({
      name: bounds.apiKeyName,
      scopes: scopeList.min(1),
      namespace: bounds.namespace.optional(),
      requestsPerSecond: z.int().min(1).max(limits.requestsPerSecond).optional(),
      expiresAt: time.optional().describe('The last millisecond of its validity.'),
    }),
    answer: answer({
      kind: z.literal('created'),
      keyId,
      key: z.string().describe('Returned only once.'),
      namespace,
      name: z.string(),
      scopes: scopeList,
      expiresAt: time.nullable(),
    }),
  },
  list: {
    request: request({ namespace: bounds.namespace.optional(), ...page }),
    answer: answer({ apiKeys: z.array(apiKey), nextCursor }),
  },
  revoke: {
    request: request({ keyId: bounds.keyId }),
    answer: answer({ kind: z.enum(['revoked', 'already_revoked']), keyId, revokedAt: time }),
  },
  authenticate: { request: request({ key: z.string() }), answer: apiKey },
}
