/** Negative when `a` is older than `b`. A pre-release is older than its release; build metadata is ignored. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  for (const [index, part] of left.numbers.entries()) {
    const difference = part - (right.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length
  return comparePre(left.pre, right.pre)
}

function parse(version: string): { numbers: number[]; pre: string[] } {
  const match = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version)
  if (match === null) throw new TypeError(`${JSON.stringify(version)} is not a version such as 1.2.3`)
  const [, major, minor, patch, pre] = match
  return { numbers: [Number(major), Number(minor), Number(patch)], pre: pre?.split('.') ?? [] }
}

// Numbers by value and before words, words by spelling, fewer parts before more.
function comparePre(left: readonly string[], right: readonly string[]): number {
  for (const [index, a] of left.entries()) {
    const b = right[index]
    if (b === undefined) return 1
    if (a === b) continue
    const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)]
    if (isNumberA && isNumberB) return Number(a) - Number(b)
    if (isNumberA !== isNumberB) return isNumberA ? -1 : 1
    return a < b ? -1 : 1
  }
  return left.length - right.length
}
