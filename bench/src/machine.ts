import { execFile } from 'node:child_process'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { promisify } from 'node:util'
import type { Stores } from './stores.ts'

export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly platform: string
  readonly node: string
  readonly postgres: string
  /** Null if none was found. */
  readonly redis: string | null
}

export async function describeMachine(node: string, { server, redisVersion }: Stores): Promise<Machine> {
  const { stdout } = await promisify(execFile)(node, ['--version'])
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: stdout.trim(),
    postgres: server.version,
    redis: redisVersion,
  }
}

export function machineLine(machine: Machine): string {
  const { cores, processor, memoryGiB, platform, node, postgres, redis } = machine
  const others = redis === null ? '' : `; Redis ${redis}, not durable`
  return `${cores} cores (${processor}), ${memoryGiB} GiB, ${platform}; node ${node}; Postgres ${postgres}, durable commits${others}`
}
