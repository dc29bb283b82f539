// The one place that publishes effects: after the commit of a write it notifies the waiters of this process, sends NOTIFY to
// the others, and starts the dispatcher.
import type { Dispatcher } from './duties/dispatcher.ts'
import type { Subscriptions } from './event/subscribe.ts'
import type { Endings } from './execution/endings.ts'
import type { Publish } from './kernel/effects.ts'
import type { Hints } from './kernel/hint.ts'

interface Receivers {
  readonly hints: Hints
  readonly subscriptions: Subscriptions
  readonly endings: Endings
  /** Null when this process leaves all dispatching to the duties. */
  readonly dispatcher: Pick<Dispatcher, 'start'> | null
}

export function publisherOf({ hints, subscriptions, endings, dispatcher }: Receivers): Publish {
  return (effects) => {
    hints.publish(effects)
    if (effects.pendingDispatch !== undefined) dispatcher?.start(effects.pendingDispatch)
    if (effects.wroteEvents !== true) return
    subscriptions.wake()
    endings.wake()
  }
}
