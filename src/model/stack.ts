// Stacks for their reader: with the frames of the user's code and its dependencies, without ours and the runtime's.

/** The folder of this copy of the package; null when a bundler has moved it into a file of the user. */
const ownFolder = folderOf(import.meta.url)

/**
 * The frames of a stack that are not FlowFabric's and not the runtime's, without the head (`Error: message`), each as
 * `at pay (/app/pay.ts:3:9)`. Stacks of other processes and other machines are read too, with their paths.
 */
export function userFrames(stack: string | undefined, message: string = ''): readonly string[] {
  if (stack === undefined) return []
  // A message may have lines that resemble frames.
  const start = message === '' ? -1 : stack.indexOf(message)
  const body = start < 0 ? stack : stack.slice(start + message.length)
  const lines = body.split('\n').map((line) => line.trim())
  return lines.filter((line) => line.startsWith('at ') && isOfUser(line))
}

/** The most useful frame: the topmost of the user's own code, otherwise of one of its dependencies. */
export function firstUserFrame(stack: string | undefined, message: string = ''): string | undefined {
  const frames = userFrames(stack, message)
  return frames.find((frame) => !asPath(frame).includes('/node_modules/')) ?? frames[0]
}

/** A stack with this head and the user's frames of another. */
export function stackOf(head: string, frames: readonly string[]): string {
  return [head, ...frames.map((frame) => `    ${frame}`)].join('\n')
}

function isOfUser(frame: string): boolean {
  // Built-in functions have no file: `at new Promise (<anonymous>)`, `at async Promise.all (index 0)`, `at map (native)`.
  if (/(?:\((?:<anonymous>|native|index \d+|native:[\d:]+)\)|^at <anonymous>|^at native)$/.test(frame)) return false
  // Node.js, Deno, Bun.
  if (/(?:^at |^at async |\()(?:node|ext|internal|deno|bun):/.test(frame)) return false
  const path = asPath(frame)
  if (/\/node_modules\/flowfabric\/(?:dist|src)\//.test(path)) return false
  return ownFolder === null || !path.includes(ownFolder)
}

function asPath(frame: string): string {
  const slashed = frame.replaceAll('\\', '/')
  if (!slashed.includes('%')) return slashed
  try {
    return decodeURIComponent(slashed)
  } catch {
    return slashed
  }
}

function folderOf(url: string): string | null {
  const [, folder] = /^file:\/\/(.*\/)model\/stack\.[jt]s$/.exec(url) ?? []
  if (folder === undefined) return null
  // `/C:/app/dist/` is `C:\app\dist\` in a frame.
  return asPath(folder.replace(/^\/(?=[A-Za-z]:\/)/, ''))
}
