import { z } from 'zod'
import { createApiKeyFields } from '../../engine/api-key/create.ts'
import { revokeApiKeyFields } from '../../engine/api-key/revoke.ts'
import { namespacePageFields } from '../../engine/kernel/page.ts'
import { requestOf, written } from './of-fields.ts'
import { scopes } from '../../model/api-key.ts'
import { answer, named, nextCursor, request, time } from './words.ts'

const scopeList = z.array(named('Scope', z.enum(scopes), 'The operations that a key allows; `admin` allows all.'))
const keyId = z.string()
written('scopes', scopeList.min(1))
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
    request: requestOf(createApiKeyFields),
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
    request: requestOf(namespacePageFields),
    answer: answer({ apiKeys: z.array(apiKey), nextCursor }),
  },
  revoke: {
    request: requestOf(revokeApiKeyFields),
    answer: answer({ kind: z.enum(['revoked', 'already_revoked']), keyId, revokedAt: time }),
  },
  authenticate: { request: request({ key: z.string() }), answer: apiKey },
}
