// The size of a statement, as the rule in test/sql/sizes.test.ts counts it: of the text as it is laid out, without comments and
// blank lines, so that it does not depend on how the lines of the source are broken.
import { layOut } from './layout.ts'

export interface Size {
  readonly lines: number
  readonly ctes: number
}

const comment = /--[^\n]*|\/\*[\s\S]*?\*\/|('(?:[^']|'')*')/g
const cte = /\bas (?:(?:not )?materialized )?\([\s(]*(?:select|insert|update|delete|with|values)\b/g

export function measure(text: string): Size {
  const code = text.replace(comment, (_, string?: string) => string ?? '')
  return { lines: layOut(code).length, ctes: code.match(cte)?.length ?? 0 }
}
