// API keys, oldest first, including revoked ones. A caller of one namespace sees its own keys.
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { ascending, orderBy, namespacePageFields, readPage, type NamespacePageRequest } from '../kernel/page.ts'
import { apiKeyColumns, apiKeyRow, decodeApiKey, type ApiKey } from './api-key.ts'

export type ListApiKeysRequest = NamespacePageRequest

export interface ApiKeyPage {
  readonly apiKeys: readonly ApiKey[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'api-key.list',
  params: { namespace: 'text?', key_id: 'text', limit: 'int8' },
  row: apiKeyRow,
  text: `
select ${apiKeyColumns}
from flowfabric.ff_api_key k
where k.key_id > $2 and ($1::text is null or k.namespace = $1)
order by k.key_id
limit $3`,
})

const order = orderBy('api-keys', { key_id: ascending.text })

export async function listApiKeys(sql: Sql, caller: Caller, request: ListApiKeysRequest): Promise<ApiKeyPage> {
  checkFields('apiKeys.list', namespacePageFields, request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) =>
    isForeign ? [] : sql.query(listStatement, { namespace, ...after, limit }),
  )
  return { apiKeys: rows.map(decodeApiKey), nextCursor }
}
