// `ctx.waitpoint`: creates a waitpoint before the wait, so that the code can send its token or link.
import type { Duration } from '../model/duration.ts'
import { EngineError } from '../model/errors.ts'
import { formatWaitpointId, parseExecutionId, parseWaitpointId } from '../model/id.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { checkStepName } from '../model/step.ts'
import { show } from '../model/text.ts'
import type { Waitpoint } from './context.ts'
import type { Holder } from './holder.ts'
import { recordedWhole } from './inside-step.ts'
import type { Recording } from './recorded-now.ts'

/** Creates it once. Later runs read its id from the record. */
export async function makeWaitpoint(
  { holder, history, idle, steps }: Recording,
  name: string,
  options: { readonly expiresIn?: Duration },
): Promise<Waitpoint> {
  refuseUnknownFields('ctx.waitpoint', options, ['expiresIn'])
  checkStepName('the name of a waitpoint', name)
  steps.refuseInside(`the waitpoint ${show(name)}`, recordedWhole)
  const { engine, claim, fence } = holder
  const call = history.reach('value', `waitpoint ${name}`)
  const { partition } = parseExecutionId(claim.executionId)
  const refuseOutside = (what: string): void => steps.refuseOutside(what)
  if (call.recorded !== null) {
    await steps.inTurn(call.recorded)
    return waitpointOf(engine, name, formatWaitpointId(partition, call.recorded.originId!), null, refuseOutside)
  }
  const made = await idle.fresh(async () => {
    const created = await holder.retryWhileLeased(() => engine.waitpoints.create({ ...fence, key: name, ...options }))
    const { uuid } = parseWaitpointId(created.waitpointId)
    await idle.recorded(holder.record(call, { state: 'succeeded', originId: uuid }))
    return created
  })
  return waitpointOf(engine, name, made.waitpointId, made.token, refuseOutside)
}

/** `made`: the token, if this run created the waitpoint. `refuseOutside` throws while no step is running. */
function waitpointOf(
  engine: Holder['engine'],
  name: string,
  waitpointId: Waitpoint['waitpointId'],
  made: string | null,
  refuseOutside: (what: string) => void,
): Waitpoint {
  return {
    name,
    waitpointId,
    async token() {
      refuseOutside(`the token of waitpoint ${show(name)}`)
      if (made !== null) return made
      const found = await engine.waitpoints.readToken(waitpointId)
      if (found !== null) return found.token
      throw new EngineError('waitpoint_not_found', `waitpoint ${waitpointId} does not exist`, { waitpointId })
    },
    async url(base, options) {
      refuseOutside(`the link of waitpoint ${show(name)}`)
      const { url } = await engine.waitpoints.link({ waitpointId, base, ...options })
      return url
    },
  }
}
