import { existsSync } from 'node:fs'
import type { Duty } from '../../../src/engine/reconcilers/duty.ts'

const file = new URL('../../../src/engine/reconcilers/retention.ts', import.meta.url)

/** The duty that removes what has ended, at once; null as long as there is none. */
export async function findRetention(): Promise<Duty | null> {
  if (!existsSync(file)) return null
  const { retention } = (await import(file.href)) as { retention: (keptForMs: number) => Duty }
  return retention(0)
}
