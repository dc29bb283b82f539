// API keys, the oldest first, those that were revoked among them. A caller of one namespace sees its own.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { apiKeyColumns, apiKeyRow, decodeApiKey, type ApiKey } from './api-key.ts'

export interface ListApiKeysRequest {
  readonly namespace?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface ApiKeyPage {
  readonly apiKeys: readonly ApiKey[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'api-key.list',
  params: { namespace: 'text?', after: 'text', limit: 'int8' },
  row: apiKeyRow,
  text: `
select ${apiKeyColumns}
from flowfabric.ff_api_key k
where k.key_id > $2 and ($1::text is null or k.namespace = $1)
order by k.key_id
limit $3`,
})

export async function listApiKeys(sql: Sql, caller: Caller, request: ListApiKeysRequest): Promise<ApiKeyPage> {
  refuseUnknownFields('apiKeys.list', request, ['namespace', 'limit', 'cursor'])
  const { namespace, cursor } = request
  const limit = pageLimit(request.limit)
  const wanted = namespace === undefined ? caller.namespace : checkNamespace(namespace)
  const isForeign = caller.namespace !== null && wanted !== caller.namespace
  const [after] = cursor === undefined ? [''] : decodeCursor('api-keys', cursor, ['text'])
  if (limit === 0 || isForeign) return { apiKeys: [], nextCursor: null }
  const rows = await sql.query(listStatement, { namespace: wanted, after: after as string, limit: limit + 1 })
  const last = rows[limit - 1]
  const hasMore = rows.length > limit && last !== undefined
  return {
    apiKeys: rows.slice(0, limit).map(decodeApiKey),
    nextCursor: hasMore ? encodeCursor('api-keys', [last.key_id]) : null,
  }
}
