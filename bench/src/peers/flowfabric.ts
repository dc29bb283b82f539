// Through the public API, with the options that one gets by giving none.
import { connect, jsonCodec } from '../../../src/index.ts'
import type { CreateRequest } from '../../../src/index.ts'
import type { Payload } from './payload.ts'
import type { Peer } from './peer.ts'

export const flowfabric: Peer = {
  async open(url) {
    const ff = await connect(url)
    return {
      create: (payload) => ff.engine.executions.create(request(payload)),
      async createMany(payloads) {
        const answers = await ff.engine.executions.createMany(payloads.map(request))
        const refused = answers.find((answer) => answer.kind === 'refused')
        if (refused !== undefined) throw refused.error
      },
      close: () => ff.close(),
    }
  },
}

function request(payload: Payload): CreateRequest {
  const { bytes, encoding } = jsonCodec.encode(payload)
  return { kind: 'send-email', payload: bytes, payloadEncoding: encoding }
}
