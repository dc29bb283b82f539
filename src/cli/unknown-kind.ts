// A kind without a registered task or worker is often misspelt. The execution is accepted all the same: its worker may
// start later.
import type { Engine } from '../engine/contract.ts'
import type { CreateResult } from '../engine/execution/create-answer.ts'
import { nearest } from '../model/text.ts'
import type { Cli } from './cli.ts'

export async function warnOfUnknownKind(cli: Cli, engine: Engine, kind: string, answer: CreateResult): Promise<void> {
  if (answer.kind !== 'created' || answer.applied?.isRegistered !== false) return
  // A key with the right to submit may lack the right to list workers.
  const workers = await engine.workers.list({ limit: 1000 }).then(
    (page) => page.workers,
    () => null,
  )
  if (workers === null || workers.some(({ kinds }) => kinds === null || kinds.includes(kind))) return
  const known = [...new Set(workers.flatMap(({ kinds }) => kinds ?? []))]
  const meant = nearest(kind, known)
  cli.err.line(`no worker knows '${kind}'${meant === undefined ? '' : `; did you mean ${meant}?`}`)
}
