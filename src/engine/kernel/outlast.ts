// The rule is `model/outlast.ts`, on this process's monotonic clock.
import { setTimeout as sleep } from 'node:timers/promises'
import { outlastBy, type Outlast, type Time } from '../../model/outlast.ts'

const time: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
}

export function outlast<T>(limit: Outlast, read: () => Promise<T>): Promise<T> {
  return outlastBy(time, limit, read)
}
