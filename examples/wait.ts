import { connect } from 'flowfabric'

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const { executions, signals } = ff.engine
const worker = { workerId: 'deployer', workerInstanceId: 'deployer-1', lanes: ['deploy'] }

// A person has to approve before the deployment continues; after two days without a decision it is cancelled.
await executions.create({ kind: 'deploy', lane: 'deploy' })
const [before] = (await executions.claim(worker)).claims
const { executionId, leaseId, leaseEpoch } = before!
const suspended = await executions.suspend({
  executionId,
  leaseId,
  leaseEpoch,
  reason: 'waiting_for_approval',
  condition: { kind: 'signal', waitpoint: 'approval', payload: { path: ['approved'], equals: true } },
  timeout: '2d',
  timeoutBehaviour: 'cancel',
})

// The worker is free. Send the token to a person who may decide: it opens this waitpoint and nothing else.
if (suspended.kind !== 'suspended') throw new Error('it was cancelled meanwhile')
const { waitpointId, token } = suspended.waitpoints[0]!
const value = { approved: true, by: 'ada' }
await signals.deliver({ waitpointId, token: token!, name: 'answer', value, sourceIdentity: 'ada' })

const [after] = (await executions.claim(worker)).claims // any worker: the same attempt, with the signal
console.log(after!.reason, after!.resumption?.signals[0]?.claimed?.identity) // resume ada
await executions.complete({ executionId, leaseId: after!.leaseId, leaseEpoch: after!.leaseEpoch })
await ff.close()
