import { statement } from '../../sql/statement.ts'

/** An invariant as a sentence, and the query for the first few rows that break it. */
export function invariant(slug: string, sentence: string, text: string) {
  const row = { subject: 'text', found: 'text' } as const
  return [sentence, statement({ name: `invariant.${slug}`, params: {}, row, text: `${text}\nlimit 10` })] as const
}
