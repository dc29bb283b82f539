// The OpenAPI document as a response.
import { createHash } from 'node:crypto'
import { codeVersion } from '../model/version.ts'
import { openApiDocument } from './openapi.ts'

// Made once, for the first request.
let document: { readonly text: string; readonly tag: string } | undefined

function openApi(): NonNullable<typeof document> {
  if (document !== undefined) return document
  const text = JSON.stringify(openApiDocument(codeVersion))
  return (document = { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` })
}

/** `known` is the header if-none-match: a client that has the document receives a 304. */
export function openApiResponse(known: string | undefined): Response {
  const { text, tag } = openApi()
  const headers = { etag: tag, 'cache-control': 'no-cache' }
  const isKnown = known?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true
  if (isKnown) return new Response(null, { status: 304, headers })
  return new Response(text, { headers: { ...headers, 'content-type': 'application/json' } })
}
