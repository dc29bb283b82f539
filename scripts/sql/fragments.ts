// Reads every statement of the product together with the files that its text comes from.
//
// A statement is assembled from template literals of several files, and the assembled text no longer shows which. So
// this imports a copy of `src/` in which each template literal with more than one line is enclosed in marks. The
// product is not involved: fragments need no registration, and the product sends and computes nothing for this script.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript-5.4'
import type * as declared from '../../src/sql/statement.ts'

type Statement = declared.Statement

export interface Fragment {
  /** From the root of the repository, with slashes. */
  readonly file: string
  /** Of the declaration in that file. */
  readonly name: string
}

export interface AssembledStatement extends Statement {
  /** The text with the marks of its fragments. */
  readonly markedText: string
}

export interface Assembly {
  readonly statements: readonly AssembledStatement[]
  readonly fragments: readonly Fragment[]
}

/** A comment before and behind a fragment, with its number. */
export const marks = /\/\*([<>])(\d+)\*\//g

const root = fileURLToPath(new URL('../../', import.meta.url))
// No other folder declares statements; these import no other folder than each other and the model.
const declaring = ['src/engine', 'src/sql']
const copied = [...declaring, 'src/model']

export async function assemble(): Promise<Assembly> {
  const fragments: Fragment[] = []
  const copy = await mkdtemp(join(tmpdir(), 'flowfabric-statements-'))
  try {
    await copySource(copy, fragments)
    const [plain, marked] = [await importStatements(root), await importStatements(copy)]
    return { statements: plain.map((statement) => withMarks(statement, marked)), fragments }
  } finally {
    await rm(copy, { recursive: true })
  }
}

function withMarks(statement: Statement, marked: readonly Statement[]): AssembledStatement {
  const found = marked.find(({ name }) => name === statement.name)
  // Marks change the result of code that cuts or searches a text at import.
  if (found?.text.replace(marks, '') !== statement.text) {
    throw new Error(`the text of ${statement.name} depends on the marks in its fragments`)
  }
  return { ...statement, markedText: found.text }
}

async function importStatements(from: string): Promise<readonly Statement[]> {
  for (const folder of declaring) {
    for (const file of await sourceFiles(join(from, folder))) await import(pathToFileURL(file).href)
  }
  const registry = await import(pathToFileURL(join(from, 'src/sql/statement.ts')).href)
  return (registry as typeof declared).allStatements()
}

async function sourceFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
}

async function copySource(copy: string, fragments: Fragment[]): Promise<void> {
  await cp(join(root, 'package.json'), join(copy, 'package.json'))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
  const files = await Promise.all(copied.map((folder) => sourceFiles(join(root, folder))))
  for (const file of files.flat()) {
    const path = file.slice(root.length).replaceAll('\\', '/')
    await mkdir(dirname(join(copy, path)), { recursive: true })
    await writeFile(join(copy, path), markTemplates(path, await readFile(file, 'utf8'), fragments))
  }
}

function markTemplates(path: string, source: string, fragments: Fragment[]): string {
  const parsed = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const insertions: { readonly at: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (isText(node)) {
      const id = fragments.push({ file: path, name: declarationOf(node) ?? basename(path) }) - 1
      insertions.push({ at: node.getStart(), text: `((text) => ${marking(node, id)})(` }, { at: node.end, text: ')' })
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  insertions.sort((a, b) => a.at - b.at)
  let marked = ''
  let end = 0
  for (const { at, text } of insertions) {
    marked += source.slice(end, at) + text
    end = at
  }
  return marked + source.slice(end)
}

function isText(node: ts.Node): boolean {
  if (ts.isStringLiteral(node)) return isWhole(node)
  const isTemplate = ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)
  return isTemplate && !ts.isTaggedTemplateExpression(node.parent) && !ts.isLiteralTypeNode(node.parent)
}

/** The whole text of a statement, `text: ...`. */
function isWhole({ parent }: ts.Node): boolean {
  return ts.isPropertyAssignment(parent) && parent.name.getText() === 'text'
}

// A text of one line may be a name, a path or a message: these must not change.
function marking(node: ts.Node, id: number): string {
  const marked = `'/*<${id}*/' + text + '/*>${id}*/'`
  return isWhole(node) ? marked : `text.includes('\\n') ? ${marked} : text`
}

function declarationOf(node: ts.Node): string | undefined {
  let top = node
  while (!ts.isSourceFile(top.parent)) top = top.parent
  if (ts.isVariableStatement(top)) {
    const declaration = top.declarationList.declarations.find(({ pos, end }) => pos <= node.pos && node.end <= end)
    return declaration?.name.getText()
  }
  return ts.isFunctionDeclaration(top) || ts.isClassDeclaration(top) ? top.name?.text : undefined
}
