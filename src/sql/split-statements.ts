// Splits a script at the semicolons that end its statements: not those inside strings, quoted names, dollar-quoted
// bodies or comments.
const pieces = /--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|;|[^-/"'$;]+|[\s\S]/g

export function splitStatements(script: string): string[] {
  const statements: string[] = []
  let current = ''
  for (const [piece] of script.matchAll(pieces)) {
    if (piece !== ';') current += piece
    else {
      statements.push(current)
      current = ''
    }
  }
  statements.push(current)
  return statements.map((statement) => statement.trim()).filter((statement) => !isEmpty(statement))
}

function isEmpty(statement: string): boolean {
  return statement.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === ''
}
