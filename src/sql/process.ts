// Which process a pid meant. A pid alone is reused; the boot id and the start time in clock ticks, which Linux
// provides, are not. On other systems a process that has our own pid but began before us is known to be another. A
// container may have a pid namespace of its own; a pid of one namespace means nothing in another.
import { readFile, readlink } from 'node:fs/promises'

export interface ProcessIdentity {
  readonly pid: number
  /** Null where the system does not provide it. */
  readonly boot: string | null
  readonly startTicks: string | null
  readonly namespace: string | null
}

export async function thisProcess(): Promise<ProcessIdentity> {
  return identify(process.pid)
}

/** Whether the identified process, which was alive at `seenAt`, may still be alive. */
export async function mayBeAlive(known: ProcessIdentity, seenAt: Date): Promise<boolean> {
  const here = await thisProcess()
  if (known.boot !== null && known.boot !== here.boot) return false
  if (!isVisible(known, here)) return true
  if (!exists(known.pid)) return false
  if (known.boot === null || known.startTicks === null) return !isOlderNamesake(known.pid, seenAt)
  const found = await identify(known.pid)
  return found.startTicks === known.startTicks
}

/** False: it belongs to another namespace, so its end cannot be seen from here. */
export function isVisible(known: ProcessIdentity, here: ProcessIdentity): boolean {
  return typeof known.namespace !== 'string' || known.namespace === here.namespace
}

async function identify(pid: number): Promise<ProcessIdentity> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => null)
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  const namespace = await readlink('/proc/self/ns/pid').catch(() => null)
  return { pid, boot: boot?.trim() ?? null, startTicks: startTicksIn(status), namespace }
}

// The second field is the program's name in parentheses and may contain anything, so the fields are counted from its
// end: the state is the first field after it, the start time the twentieth. A zombie counts as dead.
function startTicksIn(status: string | null): string | null {
  if (status === null) return null
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  return state === 'Z' || state === 'X' ? null : (fields[19] ?? null)
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isOlderNamesake(pid: number, seenAt: Date): boolean {
  const startedAt = Date.now() - process.uptime() * 1000
  return pid === process.pid && seenAt.getTime() < startedAt
}
