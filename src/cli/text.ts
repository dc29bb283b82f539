// Text for a terminal: control characters are escaped, width is measured in columns, and long text is cut.

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Control characters would move the cursor, colour the following text, or worse; they are shown instead. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    return named[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`
  })
}

const style = String.raw`\u001b\[[\d;]*m`
const styles = new RegExp(style, 'g')
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]$/u

/** In columns; colours have no width. */
export function widthOf(text: string): number {
  const plain = text.replaceAll(styles, '')
  // The usual case.
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length
  let width = 0
  for (const character of plain) width += columnsOf(character)
  return width
}

/** For a text without colours. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += columnsOf(character)
    if (used > width - 1) break
    kept += character
  }
  return width <= 0 ? '' : `${kept}…`
}

export function padTo(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return side === 'left' ? text + space : space + text
}

/** Wraps at words, into lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push(line)
  return lines
}

function columnsOf(character: string): number {
  if (invisible.test(character)) return 0
  return wide.test(character) ? 2 : 1
}
