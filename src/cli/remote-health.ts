// The health of an embedded directory, through the server of the process that has it open.
import type { LocalServer } from '../connect/local-server.ts'
import type { HealthReport } from '../engine/health/check.ts'
import type { Repair } from '../engine/health/repair.ts'
import { EngineError, errorTable, type ErrorCode } from '../model/errors.ts'

export interface RemoteHealth {
  check(request: { readonly deep?: boolean; readonly timeout?: string | number }): Promise<HealthReport>
  repair(): Promise<readonly Repair[]>
}

export function remoteHealth({ url, token }: LocalServer): RemoteHealth {
  const ask = async (method: string, path: string): Promise<unknown> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}${path}`, { method, headers }).catch((cause: unknown) => {
      throw new EngineError('server_unreachable', `${url} does not answer`, { url }, { cause })
    })
    if (answer.ok) return answer.json()
    throw await refusalOf(url, answer)
  }
  return {
    check: async ({ deep = false, timeout }) => {
      const query = new URLSearchParams({
        deep: String(deep),
        ...(timeout !== undefined && { timeout: String(timeout) }),
      })
      return (await ask('GET', `/doctor?${query.toString()}`)) as HealthReport
    },
    repair: async () => ((await ask('POST', '/doctor/repair')) as { repairs: readonly Repair[] }).repairs,
  }
}

async function refusalOf(url: string, answer: Response): Promise<EngineError> {
  const { code, detail, details } = (await answer.json().catch(() => ({}))) as Partial<Record<string, unknown>>
  if (typeof code === 'string' && Object.hasOwn(errorTable, code)) {
    return new EngineError(code as ErrorCode, String(detail), (details ?? {}) as Record<string, unknown>)
  }
  return new EngineError('server_unreachable', `${url} answers ${answer.status} to doctor`, {
    url,
    status: answer.status,
  })
}
