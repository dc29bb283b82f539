import type { Command } from 'commander'
import type { Engine } from '../../engine/contract.ts'
import type { Waitpoint } from '../../engine/waiting/waitpoint/list.ts'
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId, WaitpointId } from '../../model/id.ts'
import { jsonValue } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { bare, executionOf } from '../ids.ts'
import { examples } from '../examples.ts'
import { payloadOf, printSignal } from './signal.ts'

interface ApproveOptions {
  readonly refuse?: boolean
  readonly comment?: string
  readonly waitpoint?: string
  readonly payload?: string
  readonly lane?: string
}

export function addApprove(program: Command, cli: Cli): void {
  const command = program
    .command('approve')
    .description('approve or refuse a waiting execution, without a token')
    .argument('<id>', 'execution id or prefix, or the waitpoint id')
    .option('--refuse', 'refuse instead of approving')
    .option('--comment <text>', 'comment to send with the answer')
    .option('--waitpoint <key>', 'key of the waitpoint, if the execution has several')
    .option('--payload <json>', 'JSON to send instead of { approved, by, comment }; - reads stdin, @file a file')
    .option('--lane <lane>', 'only if the execution is in this lane')
    .addHelpText('after', examples("approve 0190b6d2-4f1c --comment 'fine with me'", 'approve 0190b6d2-4f1c --refuse'))
  cli.does(command, async (options: ApproveOptions, id: string) => {
    const { refuse = false, comment, lane } = options
    const given = await jsonValue('the payload', options.payload, cli.host)
    const answer = { approved: !refuse, by: cli.actor, ...(comment !== undefined && { comment }) }
    await cli.connected(async ({ engine }) => {
      const waitpointId = await findWaitpoint(engine, id, options.waitpoint)
      const result = await engine.signals.approve({
        waitpointId,
        name: refuse ? 'rejected' : 'approved',
        // The same decision of the same person counts once.
        idempotencySuffix: cli.actor.slice(0, 100),
        ...(await payloadOf(given ?? answer)),
        ...(lane !== undefined && { lane }),
      })
      printSignal(cli, result)
    })
  })
}

/** Ids of executions and waitpoints have the same form: an id without an execution is a waitpoint. */
async function findWaitpoint(engine: Engine, typed: string, key: string | undefined): Promise<WaitpointId> {
  const id = await executionOf(engine, typed)
  const open = await openWaitpoints(engine, id as ExecutionId)
  if (open === null && key !== undefined) {
    const sentence = `execution ${id} does not exist, so --waitpoint cannot choose among its waitpoints; leave it out if the id is that of a waitpoint`
    throw new EngineError('execution_not_found', sentence, { executionId: id })
  }
  if (open === null) return id as WaitpointId
  const fitting = key === undefined ? open : open.filter((each) => each.key === key)
  if (fitting.length === 1) return fitting[0]!.waitpointId
  if (open.length === 0) {
    throw new EngineError(
      'waitpoint_not_found',
      `execution ${id} has no open waitpoint; \`flowfabric show ${bare(id)}\` shows what it waits for`,
    )
  }
  const keys = open.map((each) => JSON.stringify(each.key)).join(', ')
  const sentence = `execution ${id} has the open waitpoints ${keys}; choose one with --waitpoint`
  throw new EngineError('invalid_input', sentence, { field: 'waitpoint' })
}

async function openWaitpoints(engine: Engine, id: ExecutionId): Promise<readonly Waitpoint[] | null> {
  try {
    return (await engine.waitpoints.list(id, { limit: 1000 })).waitpoints
  } catch (error) {
    if (EngineError.is(error, 'execution_not_found')) return null
    throw error
  }
}
