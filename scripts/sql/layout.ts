// Lays out the text of a statement: the lines as they were written, each indented by the brackets around it, none longer than
// `longestLine`. A fragment's own indentation fits its file and not the statements that it becomes a part of.
export const longestLine = 140

// A border is a comment of its own line, before the line that a fragment begins in or behind the line that it ends in.
export const borderBefore = (text: string): string => `/*<${text}*/`
export const borderAfter = (text: string): string => `/*>${text}*/`
const border = /^\/\*([<>])(.*)\*\/$/

interface Token {
  readonly text: string
  readonly isSpaced: boolean
}

interface Comment {
  readonly text: string
  /** Of a border: it begins, or ends. */
  readonly side?: '<' | '>'
}

interface Opening {
  /** Of the line with the opening bracket, or `case`. */
  readonly indent: number
  kind: 'query' | 'case' | 'list' | undefined
}

const pieces =
  /--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|\n|[^\S\n]+|[\w$]+|::|->>|[<>!]=|<>|[\s\S]/g

const queryWords = new Set(['select', 'insert', 'update', 'delete', 'with', 'values'])
const clause =
  /^(with (?!ordinality)|(select|from|where|having|insert|update|delete|set|values|returning|union|except|using|limit|offset|window)\b|(group|order) by|(left |cross )?join |on conflict|for (no key |key )?(update|share))/
const cteHead = /^\w+( ?\([^)]*\))? as (not materialized |materialized )?\(/
const breakBefore = new Set(['and', 'or', 'when', 'then', 'else', 'from', 'where', 'join', 'order', 'on', 'union'])
const operators = new Set(['+', '/', '||'])

export function layOut(text: string): string[] {
  const layout = new Layout()
  for (const line of readLines(text)) {
    if ('text' in line) layout.addComment(line)
    else layout.addLine(line)
  }
  return layout.finish()
}

class Layout {
  readonly #lines: string[] = []
  readonly #openings: Opening[] = [{ indent: -2, kind: undefined }]
  /** The indents of the borders that are open. */
  readonly #borders: number[] = []
  /** They are indented as the line behind them is. */
  #comments: Comment[] = []
  /** The rest of a line that was broken inside of a list. */
  #rest: readonly Token[] = []

  addComment(comment: Comment): void {
    this.#flush()
    this.#comments.push(comment)
  }

  addLine(line: readonly Token[]): void {
    if (!continues(line, this.#openings.at(-1)!)) this.#flush()
    if (this.#rest.length === 0 && line[0]?.text === ',') {
      // Behind the line before it, on the other side of any comments.
      if (this.#lines.length > 0) this.#lines[this.#lines.length - 1] += ','
      this.#put(line.slice(1))
    } else {
      this.#put([...this.#rest, ...line.map((token, index) => (index === 0 ? { ...token, isSpaced: true } : token))])
    }
  }

  finish(): string[] {
    this.#flush()
    this.#putComments(0)
    return this.#lines
  }

  #put(line: readonly Token[]): void {
    let rest = line
    let isBroken = false
    while (rest.length > 0) {
      const indent = indentOf(rest, this.#openings)
      const end = endOf(rest, longestLine - indent)
      isBroken ||= end < rest.length
      if (isBroken && end === rest.length && rest.at(-1)?.text === ',') break
      this.#putComments(indent)
      this.#lines.push(' '.repeat(indent) + textOf(rest.slice(0, end)))
      for (const token of rest.slice(0, end)) follow(token, indent, this.#openings)
      rest = rest.slice(end)
    }
    this.#rest = rest
  }

  #flush(): void {
    const rest = this.#rest
    this.#rest = []
    if (rest.length === 0) return
    const indent = indentOf(rest, this.#openings)
    this.#lines.push(' '.repeat(indent) + textOf(rest))
    for (const token of rest) follow(token, indent, this.#openings)
  }

  #putComments(indent: number): void {
    for (const { text, side } of this.#comments) {
      if (side === '<') this.#borders.push(indent)
      this.#lines.push(' '.repeat(side === '>' ? (this.#borders.pop() ?? indent) : indent) + text)
    }
    this.#comments = []
  }
}

/** A comment behind a line comes before it. */
function* readLines(text: string): Generator<readonly Token[] | Comment> {
  let line: Token[] = []
  let isSpaced = false
  let before: Comment[] = []
  let after: Comment[] = []
  for (const [piece] of `${text}\n`.matchAll(pieces)) {
    const [, side, name = ''] = border.exec(piece) ?? []
    if (side === '<') before.push({ text: `-- from ${name}`, side })
    else if (side === '>' && line.length > 0) after.push({ text: `-- end of ${name}`, side })
    else if (side === '>') yield { text: `-- end of ${name}`, side }
    else if (piece.startsWith('--')) yield { text: piece.trimEnd() }
    else if (piece.trim() !== '') {
      yield* before
      before = []
      line.push({ text: piece, isSpaced })
    }
    isSpaced = piece.trim() === '' || (isSpaced && side !== undefined)
    if (piece !== '\n') continue
    if (line.length > 0) yield line
    yield* after
    line = []
    after = []
  }
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text, isSpaced }, index) => (isSpaced && index > 0 ? ` ${text}` : text)).join('')
}

function indentOf(line: readonly Token[], openings: readonly Opening[]): number {
  const closings = line.findIndex(({ text }) => !isClosing(text))
  if (closings !== 0) return openings.at(closings === -1 ? -line.length : -closings)?.indent ?? 0
  const around = openings.at(-1)!
  return around.indent + (continues(line, around) ? 4 : 2)
}

/** Whether the line belongs to the clause before it, or to the branch of a `case`. */
function continues(line: readonly Token[], { kind }: Opening): boolean {
  const text = textOf(line)
  if (kind === 'case') return !/^(when|else|end)\b/.test(text)
  return kind === 'query' && !isClosing(line[0]!.text) && !clause.test(text) && !cteHead.test(text)
}

function follow({ text }: Token, indent: number, openings: Opening[]): void {
  const around = openings.at(-1)!
  if (isClosing(text) && openings.length > 1) openings.pop()
  else around.kind ??= queryWords.has(text) ? 'query' : 'list'
  if (isOpening(text)) openings.push({ indent, kind: text === 'case' ? 'case' : undefined })
}

function isOpening(text: string): boolean {
  return text === '(' || text === '[' || text === 'case'
}

function isClosing(text: string): boolean {
  return text === ')' || text === ']' || text === 'end'
}

/** How many tokens fit. A line that is too long is broken where it is inside of the fewest brackets, as late as possible. */
function endOf(line: readonly Token[], width: number): number {
  if (textOf(line).length <= width) return line.length
  let [depth, length] = [0, 0]
  let best: { readonly at: number; readonly cost: number } | undefined
  for (const [at, { text, isSpaced }] of line.entries()) {
    const isWordBreak = line[at - 1]?.text === ',' || breakBefore.has(text)
    if (at > 0 && isSpaced && (isWordBreak || operators.has(text))) {
      if (length > width && best !== undefined) break
      const cost = isWordBreak ? depth : depth + 0.5
      if (best === undefined || cost <= best.cost) best = { at, cost }
    }
    if (isOpening(text)) depth += 1
    if (isClosing(text)) depth -= 1
    length += text.length + (isSpaced ? 1 : 0)
  }
  return best?.at ?? line.length
}
