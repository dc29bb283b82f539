/** The result is recorded or reported elsewhere, so code that does not await the promise must not end the process by a rejection. */
export function markHandled<T>(running: Promise<T>): Promise<T> {
  running.catch(() => {})
  return running
}
