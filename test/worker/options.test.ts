import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const plain = task('plain', () => {})

test("SDK-14 a worker's options are checked when it is constructed", async () => {
  const { another } = await working([plain])
  const refused = [
    [{ tasks: [] }, 'tasks is an array; it must be one task or more'],
    [{ tasks: [plain, plain] }, 'there are two tasks "plain" without a version; give one of them another name'],
    [
      { tasks: ['plain' as unknown as Task] },
      'tasks is a list with "plain"; it must be a list of what task() returned',
    ],
    [{ lanes: [] }, 'lanes is an array; it must be one lane or more'],
    [{ namespaces: 'a' as unknown as string[] }, 'namespaces is "a"; it must be one namespace or more'],
    [{ namespaces: ['*'] }, "namespace is '*', which means all namespaces; pass one"],
    [{ middleware: (() => {}) as unknown as [] }, 'middleware is a function; it must be a list of functions'],
    [{ lanes: ['x'.repeat(65)] }, 'lane is at least 65 bytes long'],
    [{ concurrency: 0 }, 'concurrency is 0; it must be a whole number from 1 to 10000'],
    [{ prefetch: -1 }, 'prefetch is -1; it must be a whole number from 0 to 10000'],
    [{ leaseTtl: 5 }, 'leaseTtl is 5 ms; it must be from 100 ms to a day'],
    [{ capabilities: ['a,b'] }, 'apabilit'],
    [{ grace: -1 }, 'grace is -1'],
    [{ name: '' }, 'name is empty'],
    [{ concurency: 3 } as object, 'worker has an unknown field "concurency"; did you mean concurrency?'],
  ] as const
  for (const [options, sentence] of refused) {
    try {
      another(options)
      expect.unreachable(sentence)
    } catch (error) {
      if (!EngineError.is(error)) throw error
      expect(error.message).toContain(sentence)
    }
  }
})

test('a task is checked when it is defined', () => {
  const refused = [
    [() => task('', () => {}), 'kind is empty'],
    [() => task('t', { retry: { attempts: 0 } }, () => {}), 'policy.retry.attempts is 0'],
    [
      () => task('t', { retries: 5 } as object, () => {}),
      'task "t" has an unknown field "retries"; did you mean retry?',
    ],
    [() => task('t', {}, 'no' as unknown as () => void), 'handler is "no"; it must be a function'],
    [() => task('t', { input: {} as never }, () => {}), 'input is an object; it must be a Standard Schema'],
    [() => task('t', { version: '' }, () => {}), 'version is empty'],
    [() => task('t', { deadline: 'soon' as '1s' }, () => {}), 'deadline is "soon"'],
    [() => task('t', (() => {}) as never, {} as never), 'the options of task "t" come before its handler; swap them'],
    [() => task('t', { maxReclaims: -1 }, () => {}), 'maxReclaims is -1; it must be a whole number from 0 to 1000000'],
    [() => task('t', { maxReclaims: '5' as never }, () => {}), 'maxReclaims is "5"; it must be a whole number'],
    [() => task('t', { attemptTimeout: 0 }, () => {}), 'policy.attemptTimeoutMs is 0'],
  ] as const
  for (const [make, sentence] of refused) expect(make).toThrow(sentence)
})
