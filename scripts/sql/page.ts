// The file of one statement: a header, and the text with the borders of its fragments and with names for bits.
import { pendingDispatch } from '../../src/engine/kernel/pending-dispatch.ts'
import { attached } from '../../src/model/attached.ts'
import { marks, type AssembledStatement, type Fragment } from './fragments.ts'
import { borderAfter, borderBefore, layOut } from './layout.ts'
import { measure } from './measure.ts'

// A smaller one is easier to read without a border.
const fewestLines = 3

export function pageOf(statement: AssembledStatement, fragments: readonly Fragment[]): string {
  const { lines, ctes } = measure(statement.text)
  const home = homeOf(statement, fragments)
  const header = [
    statement.name,
    `${home.file}: ${home.name}`,
    `${lines} ${lines === 1 ? 'line' : 'lines'}, ${ctes} ${ctes === 1 ? 'CTE' : 'CTEs'}`,
    '',
    ...listed('parameters', statement.params, (index) => `$${index + 1} `),
    ...listed('columns', statement.row, () => ''),
  ]
  const text = nameBits(withBorders(statement.markedText, home, fragments))
  return [...header.map((line) => `-- ${line}`.trimEnd()), '', ...layOut(text), ''].join('\n')
}

function listed(title: string, types: object, prefix: (index: number) => string): string[] {
  const entries = Object.entries(types)
  if (entries.length === 0) return [`${title}: none`]
  return [`${title}:`, ...entries.map(([name, type], index) => `  ${prefix(index)}${name} ${inWords(String(type))}`)]
}

function inWords(type: string): string {
  const bare = type.replace('?', '')
  if (bare === type) return type
  return bare.endsWith('[]') ? `${bare} with nulls` : `${bare} or null`
}

function homeOf({ name, markedText }: AssembledStatement, fragments: readonly Fragment[]): Fragment {
  const [first] = markedText.matchAll(marks)
  const home = fragments[Number(first?.[2])]
  if (home === undefined) throw new Error(`the text of ${name} is made of no literal`)
  return home
}

/** Borders in place of the marks, around each fragment of another file than the text around it. */
function withBorders(markedText: string, home: Fragment, fragments: readonly Fragment[]): string {
  const around: { readonly fragment: Fragment; readonly hasBorder: boolean }[] = []
  return markedText.replace(marks, (mark, side: string, id: string, at: number) => {
    if (side === '>') {
      const { fragment, hasBorder } = around.pop()!
      return hasBorder ? borderAfter(fragment.name) : ''
    }
    const fragment = fragments[Number(id)]!
    const outer = around.findLast(({ hasBorder }) => hasBorder)?.fragment ?? home
    const text = markedText.slice(at + mark.length, markedText.indexOf(`/*>${id}*/`, at))
    const hasBorder = outer.file !== fragment.file && layOut(text).length >= fewestLines
    around.push({ fragment, hasBorder })
    return hasBorder ? borderBefore(`${fragment.file}: ${fragment.name}`) : ''
  })
}

// `attached & 3` becomes `attached & 3 /* waitpoints | suspension */`.
function nameBits(text: string): string {
  const named = text.replace(
    /(\w*attached\w* [&|] ~?)(\d+)\b/g,
    (_, before: string, bits: string) => `${before}${bits} /* ${namesOf(Number(bits), attached)} */`,
  )
  const { cancels } = pendingDispatch
  return named.replace(new RegExp(`\\b${cancels}\\b`, 'g'), (bits) => {
    return `${bits} /* ${namesOf(Number(bits), { cancels })} */`
  })
}

function namesOf(bits: number, names: Readonly<Record<string, number>>): string {
  const found = Object.entries(names).filter(([, bit]) => (bits & bit) !== 0)
  const covered = found.reduce((sum, [, bit]) => sum | bit, 0)
  if (covered !== bits) throw new Error(`some bits of ${bits} have no name`)
  return found.map(([name]) => name).join(' | ')
}
