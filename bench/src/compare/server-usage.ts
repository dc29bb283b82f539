// The processor time of a whole Postgres server, with its background processes and the backends that have ended; Linux only.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Server } from '../server.ts'

// The unit of /proc/<pid>/stat: a hundredth of a second on every Linux that we know.
const tickMs = 10

export async function serverProcessorMs(server: Server): Promise<number> {
  const postmaster = Number((await readFile(path.join(server.directory, 'postmaster.pid'), 'utf8')).split('\n')[0])
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const times = await Promise.all(pids.map((pid) => processorMs(pid, postmaster)))
  return times.reduce((sum, ms) => sum + ms, 0)
}

async function processorMs(pid: number, postmaster: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return 0
  // The name of the program is in parentheses and may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]))
  if (pid === postmaster) return (user! + system! + endedUser! + endedSystem!) * tickMs
  if (parent !== postmaster) return 0
  const schedule = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => null)
  return schedule === null ? (user! + system!) * tickMs : Number(schedule.split(' ')[0]) / 1e6
}
