// The processor time of processes, as the scheduler counts it: it does not depend on the load of the machine.
import { readFile } from 'node:fs/promises'

export class ProcessorTime {
  readonly #seen = new Map<number, number>()

  /** Microseconds that these processes have used since the last call that named them. */
  async since(pids: readonly number[]): Promise<number> {
    let total = 0
    for (const pid of pids) {
      const now = await usedBy(pid)
      total += Math.max(0, now - (this.#seen.get(pid) ?? 0))
      this.#seen.set(pid, now)
    }
    return total
  }
}

/** Over all of its threads. Zero for a process that has ended. */
async function usedBy(pid: number): Promise<number> {
  if (process.platform !== 'linux') throw new Error('processor time is read from /proc, which Linux alone has')
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name, in brackets, may contain spaces; user and system time are the 14th and 15th field, in hundredths of a
  // second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' ? 0 : (Number(fields[11]) + Number(fields[12])) * 10_000
}
