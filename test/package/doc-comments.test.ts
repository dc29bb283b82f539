// Requests are derived from tables of fields; an editor must still show the comment of each field.
import { fileURLToPath } from 'node:url'
import ts from 'typescript-5.4'
import { expect, test } from 'vitest'

const file = fileURLToPath(new URL('../../src/engine/execution/warn.ts', import.meta.url))

test('a hover over a field of a request shows its doc comment, also in the oldest supported compiler', () => {
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  })
  const checker = program.getTypeChecker()
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)
  const request = checker.getDeclaredTypeOfSymbol(exported.find(({ name }) => name === 'WarnRequest')!)
  const fields = checker.getPropertiesOfType(request).map((field) => {
    const type = checker.typeToString(checker.getTypeOfSymbol(field))
    const mark = (field.flags & ts.SymbolFlags.Optional) === 0 ? '' : '?'
    return [`${field.name}${mark}: ${type}`, ts.displayPartsToString(field.getDocumentationComment(checker))]
  })
  expect(Object.fromEntries(fields)).toEqual({
    'executionId: string': '',
    'leaseId: string': '',
    'leaseEpoch: number': '',
    'reason: string': 'One sentence for people.',
    'details?: Json | undefined': 'Plain JSON, for programs.',
  })
})
