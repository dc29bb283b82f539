import { refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'

export function checkLogger(logger: unknown): void {
  const allowed = 'an object with the methods debug, info, warn and error'
  if (typeof logger !== 'object' || logger === null) throw refusal('invalid_input', 'logger', show(logger), allowed)
  for (const method of ['debug', 'info', 'warn', 'error']) {
    const found: unknown = Reflect.get(logger, method)
    if (typeof found !== 'function') throw refusal('invalid_input', 'logger', `without ${method}`, allowed)
  }
}
