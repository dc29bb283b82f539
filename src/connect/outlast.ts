// As `engine/outlast.ts`, for the user's side, which loads no engine over HTTP.
import { setTimeout as sleep } from 'node:timers/promises'
import { outlastBy, type Outlast, type Time } from '../model/outlast.ts'

const time: Time = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
}

export function outlast<T>(limit: Outlast, read: () => Promise<T>): Promise<T> {
  return outlastBy(time, limit, read)
}
