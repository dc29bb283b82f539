// Tokens and links that can be parsed and are still wrong, whatever random values the right ones contain.
import type { Engine } from '../../../../src/engine/contract.ts'
import type { WaitpointId } from '../../../../src/model/id.ts'

/** Changes the last digit of its digest. */
export function forgedToken(token: string): string {
  return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
}

/** Changes a letter of its digest. Not the last one, because not all of its bits count. */
export function forgedLink(link: string): string {
  return link.slice(0, -5) + (link.at(-5) === 'A' ? 'B' : 'A') + link.slice(-4)
}

/** The signed part of a link, for an hour. */
export async function linkTo(
  engine: Engine,
  waitpointId: WaitpointId,
  action = 'approved',
  person?: string,
): Promise<string> {
  const named = person === undefined ? {} : { for: person }
  const asked = { waitpointId, base: 'https://example.com', action, expiresIn: '1h', ...named } as const
  return new URL((await engine.waitpoints.link(asked)).url).searchParams.get('link')!
}
