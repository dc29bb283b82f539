// Retry policies for the tests about steps.
export const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const
