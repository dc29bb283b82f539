// A waitpoint as the code has it: what its name and id are known by, and its token or link when they are asked for.
import { EngineError } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { Waitpoint } from './context.ts'
import type { Holder } from './holder.ts'

/** `made`: the token, where it was made in this run; `refuseOutside` throws where no step is under way. */
export function waitpointOf(
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
