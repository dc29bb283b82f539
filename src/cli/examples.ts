/** Shown below the help of a command. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ flowfabric ${line}`).join('\n')}`
}
