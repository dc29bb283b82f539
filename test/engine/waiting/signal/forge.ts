// Tokens and links that can be read and are wrong all the same, whatever chance put into the right ones.
import type { Engine } from '../../../../src/engine/contract.ts'
import type { WaitpointId } from '../../../../src/model/id.ts'

/** The last digit of its digest is another. */
export function forgedToken(token: string): string {
  return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')
}

/** A letter of its digest is another. Not the last one, of which not every bit counts. */
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
